import type { TurnSettings } from '../../src/dialogue/conversation/conversation.events.js';

/** The settings of a turn: defaults and the test's fields. */
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
