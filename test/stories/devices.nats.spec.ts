import { onEventStoreDbAndNats } from '../support/backing.js';
import { openWorld } from '../support/world.js';
import { devicesStory } from './devices.story.js';

// People ask at one process, devices come to another one, over one log.
devicesStory(async () => {
  const backing = await onEventStoreDbAndNats();
  const shared = async () => ({ ...backing, close: async () => undefined });
  const settings = { REMOTE_DEVICE_REDEEMS_MAX_PER_MINUTE: '0' };
  const [asks, serves] = [await openWorld(settings, shared), await openWorld({ ...settings, ROLES: 'api' }, shared)];
  return {
    asks,
    serves,
    close: async () => {
      await serves.close();
      await asks.close();
      await backing.close();
    },
  };
});
