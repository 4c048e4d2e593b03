import { onEventStoreDbAndNats } from '../support/backing.js';
import { openWorld } from '../support/world.js';
import { revocationStory } from './revocation.story.js';

// Two processes over one log.
revocationStory(async () => {
  const backing = await onEventStoreDbAndNats();
  const shared = async () => ({ ...backing, close: async () => undefined });
  const [reads, ends] = [await openWorld({}, shared), await openWorld({ ROLES: 'api' }, shared)];
  return {
    reads,
    ends,
    close: async () => {
      await ends.close();
      await reads.close();
      await backing.close();
    },
  };
});
