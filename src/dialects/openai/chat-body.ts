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
    role: {
      type: 'string',
      enum: ['user', 'assistant', 'tool', 'system', 'developer'],
      description: '`system` and `developer` replace the prompt of an agent that allows it. Otherwise they are ignored.',
    },
    content: {
      description:
        'A text, or an array of parts: `text`; for `user` also `image_url` with a data URL, and `file` with `file_data` as a data URL or the `file_id` of an attachment; for `assistant` also `refusal`.',
    },
    tool_calls: { type: 'array', items: { type: 'object' }, description: 'For `assistant`: the calls, as they were returned.' },
    tool_call_id: { type: 'string', description: 'For `tool`: the id of the call whose result `content` is.' },
    name: { type: 'string', description: 'Ignored and named in X-Ignored-Parameters.' },
  },
};

/**
 * The fields of a request for a completion. Other fields, and options that would change how the agent answers, are refused by
 * name. Agents that research or run a workflow ignore the sampling parameters.
 */
export const CHAT_BODY = {
  type: 'object',
  required: ['messages'],
  properties: {
    messages: {
      type: 'array',
      items: MESSAGE,
      minItems: 1,
      description: 'The last message is the question, or the last messages are results of calls.',
    },
    model: {
      type: 'string',
      description:
        'The id of a model that the agent may use. Default: the agent’s own model, which `docsgpt`, `docsgpt-agent` and the id of the agent also mean.',
    },
    tools: { type: 'array', items: FUNCTION, description: 'Functions of the caller.' },
    response_format: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['text', 'json_object', 'json_schema'] },
        json_schema: { type: 'object', properties: { schema: { type: 'object', description: 'A JSON Schema.' } } },
      },
    },
    response_schema: {
      type: 'object',
      description: 'A JSON Schema, or an object with one as `schema`. It takes the place of `response_format`.',
    },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    top_p: { type: 'number', minimum: 0, maximum: 1 },
    frequency_penalty: { type: 'number', minimum: -2, maximum: 2 },
    presence_penalty: { type: 'number', minimum: -2, maximum: 2 },
    seed: { type: 'integer' },
    stop: {
      oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 4 }],
      description: 'A text, or at most 4 texts, of at most 256 characters each.',
    },
    max_completion_tokens: { type: 'integer', minimum: 1 },
    max_tokens: { type: 'integer', minimum: 1, description: 'The older name of `max_completion_tokens`.' },
    stream: { type: 'boolean' },
    stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
    conversation_id: {
      type: 'string',
      description: 'Continues a conversation, as `X-DocsGPT-Conversation-ID` and `docsgpt.conversation_id` do.',
    },
    docsgpt: {
      type: 'object',
      properties: {
        conversation_id: { type: 'string' },
        attachments: { type: 'array', items: { type: 'string' }, description: 'Ids of attachments of the question.' },
      },
      description: 'Other fields are ignored and named in X-Ignored-Parameters.',
    },
  },
};

export const CHAT_EXAMPLE = { messages: [{ role: 'user', content: 'When is tea?' }] };
