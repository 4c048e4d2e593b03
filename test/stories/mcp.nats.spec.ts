import { openTwoProcesses } from '../support/two-processes.js';
import { MCP_SETTINGS, mcpStory } from './mcp.story.js';

// No session is kept: every other request of a client comes to the other process.
mcpStory(() => openTwoProcesses(MCP_SETTINGS));
