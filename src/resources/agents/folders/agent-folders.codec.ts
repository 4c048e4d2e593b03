import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { AgentFoldersEvent } from './agent-folders.events.js';

export const agentFoldersCodec: Codec<AgentFoldersEvent> = {
  AgentFolderCreated: [],
  AgentFolderChanged: [],
  AgentFolderDeleted: [],
};
