import { describe, expect, it } from '@jest/globals';
import type { Frame, PendingToolCall } from '../../dialogue/journal/message.events.js';
import { chunkOf, completionOf, type Head, noCompletion, usageChunkOf, withNextFrame } from './completion.policy.js';

const CONVERSATION = '6f9619ff-8b86-4011-b42d-00c04fc964ff';
const HEAD: Head = { conversationId: CONVERSATION, id: 'chatcmpl-1', created: 1_700_000_000, model: 'guide' };
const BEGINNING: Frame = { type: 'message_id', message_id: 'm1', conversation_id: null, request_id: 'r1' };
const END: Frame = { type: 'end' };

const pending = (callId: string, pauseType: PendingToolCall['pause_type']): PendingToolCall => ({
  call_id: callId,
  name: 'pick',
  llm_name: 'pick',
  tool_name: 'pick',
  action_name: 'pick',
  arguments: { of: 'tea' },
  pause_type: pauseType,
  thought_signature: null,
  expires_at: '2026-01-01T00:00:00.000Z',
});
const waiting = (...calls: readonly PendingToolCall[]): Frame => ({
  type: 'tool_calls_pending',
  data: { pending_tool_calls: calls },
});

function read(...frames: readonly Frame[]) {
  let completion = noCompletion;
  const deltas: object[] = [];
  const beside: unknown[] = [];
  for (const frame of [BEGINNING, ...frames]) {
    const next = withNextFrame(completion, frame, CONVERSATION);
    completion = next.completion;
    for (const { delta, docsgpt } of next.additions) {
      if (delta) deltas.push(delta);
      if (docsgpt) beside.push(docsgpt);
    }
  }
  return { completion, deltas, beside };
}

describe('frames of a journal', () => {
  it('become deltas one by one, after a delta with the role', () => {
    const { deltas, beside, completion } = read(
      { type: 'thought', thought: 'Hm' },
      { type: 'answer', answer: 'At ' },
      { type: 'answer', answer: 'four.' },
      { type: 'source', source: [] },
      { type: 'notice', notice: 'A source is gone.' },
      { type: 'id', id: CONVERSATION },
      END,
    );
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm' },
      { content: 'At ' },
      { content: 'four.' },
    ]);
    expect(beside).toEqual([
      { type: 'source', sources: [] },
      { type: 'notice', notice: 'A source is gone.' },
      { type: 'id', conversation_id: CONVERSATION },
    ]);
    expect(completion.ending).toEqual({ kind: 'finished', reason: 'stop' });
  });

  it('are shortened if a line would be too long for the command line of DocsGPT', () => {
    const text = 'x'.repeat(100_000);
    const { beside } = read({ type: 'source', source: [{ text, title: 'A', source: 'A', filename: 'a.md' }] });
    expect(JSON.stringify(beside).length).toBeLessThan(64 * 1024);
  });

  it('of an answer with a schema show its text once', () => {
    const whole: Frame = { type: 'structured_answer', answer: '{"a":1}', structured: true, schema: null };
    expect(read(whole).deltas.at(-1)).toEqual({ content: '{"a":1}' });
    expect(read({ type: 'answer', answer: '{"a"' }, whole).deltas.slice(-2)).toEqual([{ content: '{"a"' }, { content: ':1}' }]);
    expect(read({ type: 'answer', answer: 'No. {' }, whole).deltas.at(-1)).toEqual({ content: 'No. {' });
  });

  it('request only calls of the caller’s code, with ids that name the conversation', () => {
    const { deltas, completion } = read(
      waiting(pending('c1', 'awaiting_approval'), pending('c2', 'requires_client_execution')),
      END,
    );
    expect(deltas.at(-1)).toEqual({
      tool_calls: [
        {
          index: 0,
          id: `call_${CONVERSATION}_c2`,
          type: 'function',
          function: { name: 'pick', arguments: '{"of":"tea"}' },
        },
      ],
    });
    expect(completion.ending).toEqual({ kind: 'finished', reason: 'tool_calls' });
  });

  it('that wait only for approvals are denied, and the completion continues', () => {
    const paused = [{ type: 'answer', answer: 'Let me see. ' }, waiting(pending('c1', 'awaiting_approval')), END] as const;
    const before = read(...paused);
    expect(before.completion.ending).toEqual({ kind: 'denied', callIds: ['c1'] });
    const after = read(...paused, BEGINNING, { type: 'answer', answer: 'No.' }, END);
    expect(after.deltas).toEqual([{ role: 'assistant', content: '' }, { content: 'Let me see. ' }, { content: 'No.' }]);
    expect(after.completion.ending).toEqual({ kind: 'finished', reason: 'stop' });
  });

  it('of an answer that a filter of the provider ended end with content_filter and keep its text', () => {
    const notice = "A content filter of the model's provider ended the answer.";
    const { completion } = read(
      { type: 'answer', answer: 'It is' },
      { type: 'notice', notice },
      { type: 'id', id: CONVERSATION },
      END,
    );
    expect(completion.ending).toEqual({ kind: 'finished', reason: 'content_filter' });
    const [choice] = completionOf(HEAD, completion, 'content_filter', undefined).choices;
    expect(choice).toMatchObject({ message: { content: 'It is', refusal: null } });
  });

  it('of a blocked answer end with content_filter and without the retracted text', () => {
    const stopped = { stage: 'output', categories: ['KEY'], checks: ['secrets'] };
    const { deltas, completion } = read(
      { type: 'answer', answer: 'It is ' },
      { type: 'guardrail', guardrail: stopped, retract: true },
      { type: 'error', error: 'No.', code: 'guardrail' },
      END,
    );
    expect(deltas.at(-1)).toEqual({ refusal: 'No.' });
    expect(completion.ending).toEqual({ kind: 'finished', reason: 'content_filter' });
    const [choice] = completionOf(HEAD, completion, 'content_filter', undefined).choices;
    expect(choice).toMatchObject({ message: { content: null, refusal: 'No.' }, finish_reason: 'content_filter' });
  });

  it('of a failed or stopped answer have the reason', () => {
    expect(read({ type: 'error', error: 'Broke.' }, END).completion.ending).toEqual({
      kind: 'failed',
      text: 'Broke.',
      code: null,
    });
    expect(read({ type: 'error', error: 'Stopped.', code: 'stopped' }).completion.ending).toEqual({
      kind: 'failed',
      text: 'Stopped.',
      code: 'stopped',
    });
  });
});

it('the usage is sent in a separate chunk without choices', () => {
  const part = usageChunkOf(HEAD, { promptTokens: 2, completionTokens: 3 });
  expect(part).toMatchObject({ choices: [], usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } });
  expect(usageChunkOf(HEAD, undefined).usage).toBeNull();
  expect(chunkOf(HEAD, {}, 'stop')).not.toHaveProperty('usage');
});
