import type { TurnSettings } from '../../src/dialogue/conversation/conversation.events.js';

/** How a turn is run of which a test says nothing, or only this. */
export const turnSettings = (more: Partial<TurnSettings> = {}): TurnSettings => ({
  agentId: null,
  agentKeyId: null,
  modelId: 'offline',
  promptId: '',
  configurationOwnerId: 'alice',
  sources: [],
  chunks: 6,
  retriever: 'classic',
  passthrough: {},
  responseSchema: null,
  ...more,
});
