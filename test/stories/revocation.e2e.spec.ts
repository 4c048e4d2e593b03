import { openWorld } from '../support/world.js';
import { revocationStory } from './revocation.story.js';

revocationStory(async () => {
  const world = await openWorld();
  return { reads: world, ends: world, close: () => world.close() };
});
