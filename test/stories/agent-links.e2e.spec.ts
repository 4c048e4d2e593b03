import { openWorld } from '../support/world.js';
import { agentLinksStory } from './agent-links.story.js';

agentLinksStory(async () => {
  const world = await openWorld();
  return { asks: world, changes: world, close: () => world.close() };
});
