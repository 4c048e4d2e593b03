import { openWorld } from '../support/world.js';
import { sharedPartsStory } from './shared-parts.story.js';

sharedPartsStory(async () => {
  const world = await openWorld();
  return { asks: world, changes: world, close: () => world.close() };
});
