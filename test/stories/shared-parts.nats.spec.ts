import { openTwoProcesses } from '../support/two-processes.js';
import { sharedPartsStory } from './shared-parts.story.js';

// What is shared is used at one process, and its grants are made and ended at another one, over one log.
sharedPartsStory(async () => {
  const { first, second, close } = await openTwoProcesses();
  return { asks: first, changes: second, close };
});
