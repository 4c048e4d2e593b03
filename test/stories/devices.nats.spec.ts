import { openTwoProcesses } from '../support/two-processes.js';
import { devicesStory } from './devices.story.js';

// People ask at one process, devices come to another one, over one log.
devicesStory(async () => {
  const { first, second, close } = await openTwoProcesses({ REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE: '0' });
  return { asks: first, serves: second, close };
});
