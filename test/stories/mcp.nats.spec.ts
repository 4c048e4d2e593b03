import { openTwoProcesses } from '../support/two-processes.js';
import { MCP_SETTINGS, mcpStory } from './mcp.story.js';

// No session is stored: every other request of a client is sent to the other process.
mcpStory(() => openTwoProcesses(MCP_SETTINGS));
