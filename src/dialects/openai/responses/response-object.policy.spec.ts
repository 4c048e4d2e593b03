import { describe, expect, it } from '@jest/globals';
import { noMessage, type Message } from '../../../dialogue/journal/message.policy.js';
import { responseObject, type ResponseHead, type ResponseState } from './response-object.policy.js';

const echo = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model: 'agent',
  previous_response_id: null,
  temperature: null,
  text: { format: { type: 'text' } },
  tools: [],
  top_p: null,
};
const head: ResponseHead = {
  responseId: 'r',
  conversationId: 'c',
  turnId: 't',
  after: -1,
  createdAt: 5,
  translator: 1,
  echo,
  isStored: true,
};
const usage = { promptTokens: 3, completionTokens: 4 };
const shown = (state: ResponseState, message: Message = noMessage) =>
  responseObject(head, [], message, state) as Readonly<Record<string, unknown>>;

describe('the object of a response', () => {
  const open = { completed_at: null, error: null, incomplete_details: null, usage: null };
  const tokens = {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 7,
  };
  it.each<[ResponseState, object]>([
    [{ status: 'queued' }, open],
    [{ status: 'in_progress' }, open],
    [
      { status: 'completed', usage, completedAt: 9 },
      { ...open, completed_at: 9, usage: tokens },
    ],
    [
      { status: 'completed', usage: undefined, completedAt: 9 },
      { ...open, completed_at: 9 },
    ],
    [
      { status: 'cancelled', usage },
      { ...open, usage: tokens },
    ],
    [
      { status: 'incomplete', reason: 'content_filter', usage: undefined },
      { ...open, incomplete_details: { reason: 'content_filter' } },
    ],
  ])('in the state %j has the fields %j', (state, fields) =>
    expect(shown(state)).toMatchObject({ id: 'resp_r', status: state.status, store: true, model: 'agent', ...fields }),
  );

  it.each([
    ['overloaded', 'rate_limit_exceeded'],
    ['context_too_long', 'invalid_prompt'],
    ['tool_failed', 'server_error'],
    [null, 'server_error'],
  ])('names a failure %j with the code %s', (code, theirs) =>
    expect(shown({ status: 'failed', error: { text: 'No.', code }, usage: undefined })['error']).toEqual({
      code: theirs,
      message: 'No.',
    }),
  );
});

describe('the field docsgpt', () => {
  const field = (message: Partial<Message>) => shown({ status: 'queued' }, { ...noMessage, ...message })['docsgpt'];

  it('names the conversation, sources and tool calls', () =>
    expect(field({})).toEqual({ conversation_id: 'c', sources: [], tool_calls: [] }));
  it('has the notices as warnings', () => expect(field({ notices: ['Slow.'] })).toMatchObject({ warnings: ['Slow.'] }));
  it('has the guardrail that stopped the answer, without its message', () => {
    const guardrail = { stage: 'output', categories: ['EMAIL'], checks: ['pii'] } as const;
    expect(field({ guardrail: { ...guardrail, message: 'No.' } as unknown as Message['guardrail'] })).toMatchObject({
      guardrail,
    });
  });
});
