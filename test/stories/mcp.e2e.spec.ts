import { openWorld } from '../support/world.js';
import { MCP_SETTINGS, mcpStory } from './mcp.story.js';

mcpStory(async () => {
  const world = await openWorld(MCP_SETTINGS);
  return { first: world, second: world, close: () => world.close() };
});
