import { openTwoProcesses } from '../support/two-processes.js';
import { sharedPartsStory } from './shared-parts.story.js';

// Shared resources are used at one process, and their grants are changed at another, over one log.
sharedPartsStory(async () => {
  const { first, second, close } = await openTwoProcesses();
  return { asks: first, changes: second, close };
});
