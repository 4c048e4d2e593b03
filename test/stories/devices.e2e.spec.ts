import { openWorld } from '../support/world.js';
import { devicesStory } from './devices.story.js';

devicesStory(async () => {
  const world = await openWorld({ REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE: '0' });
  return { asks: world, serves: world, close: () => world.close() };
});
