import { openTwoProcesses } from '../support/two-processes.js';
import { askingLinksStory, QUOTA } from './asking-links.story.js';

// Readers ask at one process, links are made and ended at another, over one log.
askingLinksStory(async () => {
  const { first, second, close } = await openTwoProcesses(QUOTA);
  return { asks: first, changes: second, close };
});
