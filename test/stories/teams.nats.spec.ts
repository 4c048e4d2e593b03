import { openTwoProcesses } from '../support/two-processes.js';
import { teamsStory } from './teams.story.js';

// Users ask at one process, their access is changed at another, over one log.
teamsStory(async () => {
  const { first, second, close } = await openTwoProcesses();
  return { asks: first, changes: second, close };
});
