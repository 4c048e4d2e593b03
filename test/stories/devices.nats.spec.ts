import { openTwoProcesses } from '../support/two-processes.js';
import { devicesStory } from './devices.story.js';

// Users ask at one process, devices connect to another, over one log.
devicesStory(async () => {
  const { first, second, close } = await openTwoProcesses({ REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE: '0' });
  return { asks: first, serves: second, close };
});
