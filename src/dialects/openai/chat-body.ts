const FUNCTION = {
  type: 'object',
  required: ['type', 'function'],
  properties: {
    type: { type: 'string', enum: ['function'] },
    function: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, description: { type: 'string' }, parameters: { type: 'object' } },
    },
  },
};

const MESSAGE = {
  type: 'object',
  required: ['role'],
  properties: {
    role: { type: 'string', enum: ['user', 'assistant', 'tool'] },
    content: { description: 'A text, or parts of the type `text`.' },
    tool_calls: { type: 'array', items: { type: 'object' }, description: 'For `assistant`: the calls, as they were returned.' },
    tool_call_id: { type: 'string', description: 'For `tool`: the id of the call whose result `content` is.' },
  },
};

/** The fields of a request for a completion. Other fields, and options that would change how the agent answers, are refused. */
export const CHAT_BODY = {
  type: 'object',
  required: ['messages'],
  properties: {
    messages: {
      type: 'array',
      items: MESSAGE,
      description: 'The last message is the question, or the last messages are results of calls.',
    },
    model: { type: 'string', description: 'The id of the agent, or of a model that it may use. Default: the agent’s own model.' },
    tools: { type: 'array', items: FUNCTION, description: 'Functions of the caller.' },
    stream: { type: 'boolean' },
    stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
    conversation_id: {
      type: 'string',
      description: 'Continues a conversation, as `X-DocsGPT-Conversation-ID` and `docsgpt.conversation_id` do.',
    },
    docsgpt: { type: 'object', properties: { conversation_id: { type: 'string' } } },
  },
};

export const CHAT_EXAMPLE = { messages: [{ role: 'user', content: 'When is tea?' }] };
