import { onEventStoreDbAndNats } from '../support/backing.js';
import { openWorld } from '../support/world.js';
import { agentLinksStory } from './agent-links.story.js';

// People ask at one process, links are made and end at another one, over one log.
agentLinksStory(async () => {
  const backing = await onEventStoreDbAndNats();
  const shared = async () => ({ ...backing, close: async () => undefined });
  const [asks, changes] = [await openWorld({}, shared), await openWorld({ ROLES: 'api' }, shared)];
  return {
    asks,
    changes,
    close: async () => {
      await changes.close();
      await asks.close();
      await backing.close();
    },
  };
});
