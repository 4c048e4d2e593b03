import { openTwoProcesses } from '../support/two-processes.js';
import { agentLinksStory } from './agent-links.story.js';

// Visitors ask at one process, links are made and ended at another, over one log.
agentLinksStory(async () => {
  const { first, second, close } = await openTwoProcesses();
  return { asks: first, changes: second, close };
});
