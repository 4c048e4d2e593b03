import { openWorld } from '../support/world.js';
import { askingLinksStory, QUOTA } from './asking-links.story.js';

askingLinksStory(async () => {
  const world = await openWorld(QUOTA);
  return { asks: world, changes: world, close: () => world.close() };
});
