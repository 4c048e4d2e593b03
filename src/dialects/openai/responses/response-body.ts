import type { ApiResponseOptions, OpenAPIObject } from '@nestjs/swagger';

type SchemaObject = Exclude<NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string], Readonly<{ $ref: string }>>;

const text = (description: string): SchemaObject => ({ type: 'string', description });
const flag = (description: string): SchemaObject => ({ type: 'boolean', description });

const FUNCTION: SchemaObject = {
  type: 'object',
  required: ['type', 'name'],
  properties: {
    type: { type: 'string', enum: ['function'] },
    name: { type: 'string' },
    description: { type: 'string' },
    parameters: { type: 'object' },
  },
};

const INPUT: SchemaObject = {
  description:
    'A text, or items: messages (`input_text`, `input_image` and `input_file` with data URLs or ids of attachments), `function_call`, `function_call_output`, `reasoning` (which has no effect).',
  oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }],
};

/**
 * The fields of a request for a response. Other fields, and options that would change how the agent answers, are refused by name.
 */
export const RESPONSE_BODY: SchemaObject = {
  type: 'object',
  required: ['input'],
  properties: {
    input: INPUT,
    model: text(
      'The id of a model that the agent may use. Default: the agent’s own model, which `docsgpt`, `docsgpt-agent` and the id of the agent also mean.',
    ),
    instructions: text(
      'Replaces the prompt of an agent that allows it. Otherwise it is ignored and named in X-Ignored-Parameters.',
    ),
    previous_response_id: text('The response that this one continues.'),
    background: flag('Returns the response at once and generates it in the background.'),
    store: flag('False: the response cannot be retrieved later. The conversation still keeps the answer.'),
    stream: flag('Returns events instead of the whole response.'),
    tools: { type: 'array', items: FUNCTION, description: 'Functions of the caller.' },
    text: { type: 'object', properties: { format: { type: 'object', description: 'text, json_object or json_schema.' } } },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    top_p: { type: 'number', minimum: 0, maximum: 1 },
    max_output_tokens: { type: 'integer', minimum: 1 },
  },
};

export const RESPONSE_EXAMPLE = { input: 'When is tea?' };

const STATUSES = ['queued', 'in_progress', 'completed', 'failed', 'cancelled', 'incomplete'];

export const RESPONSE: SchemaObject = {
  type: 'object',
  required: ['id', 'object', 'created_at', 'status', 'output'],
  properties: {
    id: text('resp_…'),
    object: { type: 'string', enum: ['response'] },
    created_at: { type: 'integer' },
    status: { type: 'string', enum: STATUSES },
    background: { type: 'boolean' },
    completed_at: { type: 'integer', nullable: true },
    error: {
      type: 'object',
      nullable: true,
      properties: { code: { type: 'string' }, message: { type: 'string' } },
    },
    incomplete_details: { type: 'object', nullable: true, properties: { reason: { type: 'string' } } },
    instructions: { type: 'string', nullable: true },
    max_output_tokens: { type: 'integer', nullable: true },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    model: { type: 'string' },
    parallel_tool_calls: { type: 'boolean', enum: [true] },
    temperature: { type: 'number', nullable: true },
    text: { type: 'object', properties: { format: { type: 'object' } } },
    tool_choice: { type: 'string', enum: ['auto'] },
    tools: { type: 'array', items: { type: 'object' } },
    top_p: { type: 'number', nullable: true },
    truncation: { type: 'string', enum: ['auto'] },
    output: { type: 'array', items: { type: 'object' }, description: 'Items: message, reasoning, function_call.' },
    previous_response_id: { type: 'string', nullable: true },
    store: { type: 'boolean' },
    usage: { type: 'object', nullable: true },
    docsgpt: {
      type: 'object',
      properties: {
        conversation_id: { type: 'string' },
        sources: { type: 'array', items: { type: 'object' } },
        tool_calls: { type: 'array', items: { type: 'object' } },
        guardrail: { type: 'object', description: 'Why a guardrail ended the answer: `stage`, `categories`, `checks`.' },
        warnings: { type: 'array', items: { type: 'string' } },
      },
    },
  },
};

export const DELETED: SchemaObject = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    object: { type: 'string', enum: ['response'] },
    deleted: { type: 'boolean', enum: [true] },
  },
};

export const INPUT_ITEMS: SchemaObject = {
  type: 'object',
  properties: {
    object: { type: 'string', enum: ['list'] },
    data: { type: 'array', items: { type: 'object' } },
    first_id: { type: 'string', nullable: true },
    last_id: { type: 'string', nullable: true },
    has_more: { type: 'boolean' },
  },
};

const TEXTS = { item_id: { type: 'string' }, output_index: { type: 'integer' }, content_index: { type: 'integer' } } as const;
const ITEM = { output_index: { type: 'integer' }, item: { type: 'object' } } as const;
const CALL = { item_id: { type: 'string' }, output_index: { type: 'integer' } } as const;
const PART = { ...TEXTS, part: { type: 'object' } } as const;
const DELTA = { ...TEXTS, delta: { type: 'string' } } as const;

const event = (type: string, fields: Readonly<Record<string, SchemaObject>>): SchemaObject => ({
  type: 'object',
  required: ['type', 'sequence_number', ...Object.keys(fields)],
  properties: { type: { type: 'string', enum: [type] }, sequence_number: { type: 'integer' }, ...fields },
});

const LIFECYCLE = ['created', 'queued', 'in_progress', 'completed', 'failed', 'incomplete'];

/** All events of a response. Each is sent as `event: <type>` and `data: <JSON>`. */
const EVENTS: SchemaObject = {
  description: 'One event. `event:` is its type and `data:` the object as JSON. Sequence numbers begin with 0 and have no gaps.',
  oneOf: [
    ...LIFECYCLE.map((each) => event(`response.${each}`, { response: RESPONSE })),
    event('response.output_item.added', ITEM),
    event('response.output_item.done', ITEM),
    event('response.content_part.added', PART),
    event('response.content_part.done', PART),
    event('response.output_text.delta', { ...DELTA, logprobs: { type: 'array', items: {} } }),
    event('response.output_text.done', { ...TEXTS, text: { type: 'string' }, logprobs: { type: 'array', items: {} } }),
    event('response.reasoning_text.delta', DELTA),
    event('response.reasoning_text.done', { ...TEXTS, text: { type: 'string' } }),
    event('response.refusal.delta', DELTA),
    event('response.refusal.done', { ...TEXTS, refusal: { type: 'string' } }),
    event('response.function_call_arguments.delta', { ...CALL, delta: { type: 'string' } }),
    event('response.function_call_arguments.done', { ...CALL, name: { type: 'string' }, arguments: { type: 'string' } }),
  ],
};

export const responseOrEvents = (description: string): ApiResponseOptions => ({
  status: 200,
  description,
  content: { 'application/json': { schema: RESPONSE }, 'text/event-stream': { schema: EVENTS } },
});
