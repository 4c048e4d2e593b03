import { openWorld } from '../support/world.js';
import { teamsStory } from './teams.story.js';

teamsStory(async () => {
  const world = await openWorld();
  return { asks: world, changes: world, close: () => world.close() };
});
