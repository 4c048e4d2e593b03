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
    tool_calls: { type: 'array', items: { type: 'object' }, description: 'Of the assistant, as they came.' },
    tool_call_id: { type: 'string', description: 'Of a tool: the call whose result the content is.' },
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
      description: 'The last one is the question, or the last ones are results of calls.',
    },
    model: { type: 'string', description: 'The id of the agent, or of a model that it may use; the agent’s own if missing.' },
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
