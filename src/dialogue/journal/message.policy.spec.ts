import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { turnPaused, waitingCall } from '../../../test/support/pauses.js';

import type { ToolCallRecord } from '../conversation/tool-call.policy.js';
import type { Frame } from './message.events.js';
import {
  type Message,
  MessageDigest,
  noMessage,
  pauseFrames,
  pauseFramesCount,
  renderFrames,
  withFrame,
} from './message.policy.js';

const folded = (...frames: readonly Frame[]): Message => frames.reduce(withFrame, noMessage);
const begun: Frame = { type: 'message_id', message_id: 'm1', conversation_id: 'c1', request_id: 'r1' };
const call = (callId: string, status: ToolCallRecord['status']): ToolCallRecord => ({
  tool_name: 'shop',
  call_id: callId,
  action_name: 'order',
  arguments: {},
  status,
});
const source = { source: 'Tea', title: 'Tea', text: 'Tea is a drink.', filename: 'tea.md', score: 1 };

describe('the rendered frames', () => {
  it('are an id, the stored text and an empty line each, numbered from the first', () =>
    expect(renderFrames(7, ['{"type":"answer","answer":"a"}', '{"type":"end"}'])).toBe(
      'id: 7\ndata: {"type":"answer","answer":"a"}\n\nid: 8\ndata: {"type":"end"}\n\n',
    ));

  it('have the digest of a message when their empty lines are removed', () => {
    const data = ['{"type":"answer","answer":"tè"}', '{"type":"answer","answer":"🐑"}', '{"type":"end"}'];
    const digest = new MessageDigest();
    for (const [revision, text] of data.entries()) {
      digest.add(revision, text);
      const lines = renderFrames(0, data.slice(0, revision + 1)).replaceAll('\n\n', '\n');
      expect(digest.hex()).toBe(createHash('sha256').update(lines).digest('hex'));
    }
    expect(digest).toMatchObject({ frames: 3, lastId: 2 });
  });
});

describe('a message', () => {
  it('has the texts of its frames in order', () =>
    expect(
      folded(
        begun,
        { type: 'thought', thought: 'Hm' },
        { type: 'thought', thought: '.' },
        { type: 'answer', answer: 'Te' },
        { type: 'answer', answer: 'a' },
        { type: 'notice', notice: 'Cut off.' },
        { type: 'source', source: [source] },
        { type: 'id', id: 'c2' },
        { type: 'end' },
      ),
    ).toEqual({
      ...noMessage,
      parts: { answer: 'Tea', thought: 'Hm.', sources: [source], toolCalls: [], structured: false },
      conversationId: 'c2',
      requestId: 'r1',
      notices: ['Cut off.'],
      runs: 1,
      last: 'end',
    }));

  it('has the newest record of each tool call, in the order of the list', () => {
    const made: Frame[] = [
      { type: 'tool_call', data: call('k1', 'pending') },
      { type: 'tool_call', data: call('k2', 'pending') },
      { type: 'tool_call', data: call('k1', 'completed') },
    ];
    const idsOf = ({ parts }: Message) => parts.toolCalls.map(({ call_id: id, status }) => [id, status]);
    expect(idsOf(folded(begun, ...made))).toEqual([
      ['k1', 'completed'],
      ['k2', 'pending'],
    ]);
    const listed: Frame = { type: 'tool_calls', tool_calls: [call('k2', 'completed')] };
    expect(idsOf(folded(begun, ...made, listed))).toEqual([
      ['k2', 'completed'],
      ['k1', 'completed'],
    ]);
  });

  it('is structured if it has a schema, and its text is then the whole answer', () => {
    const { parts, schema } = folded(
      begun,
      { type: 'answer', answer: '{' },
      { type: 'structured_answer', answer: '{}', structured: true, schema: 1 },
    );
    expect([parts.answer, parts.structured, schema]).toEqual(['{}', true, 1]);
  });

  it('that a guardrail stops loses its text if that is retracted, but not its tool calls', () => {
    const guardrail = { name: 'secrets' } as unknown as Extract<Frame, { type: 'guardrail' }>['guardrail'];
    const shown: Frame[] = [begun, { type: 'tool_call', data: call('k1', 'completed') }, { type: 'answer', answer: 'Tea' }];
    const stopped = (retract: boolean) => folded(...shown, { type: 'guardrail', guardrail, retract });
    expect(stopped(false)).toMatchObject({ guardrail, parts: { answer: 'Tea' } });
    expect(stopped(true)).toMatchObject({ guardrail, parts: { answer: '', toolCalls: [{ call_id: 'k1' }] } });
  });

  it('has its error and the code of it, until another run begins', () => {
    const failed = folded(begun, { type: 'error', error: 'Broken.', code: 'interrupted' });
    expect(failed.error).toEqual({ text: 'Broken.', code: 'interrupted' });
    expect(folded(begun, { type: 'error', error: 'Broken.' }).error).toEqual({ text: 'Broken.', code: null });
    expect(withFrame(failed, begun)).toMatchObject({ error: null, runs: 2 });
  });
});

describe('the frames of a pause', () => {
  const { data } = turnPaused({ conversationId: 'c1', turnId: 't1' }, [waitingCall('k1'), waitingCall('k2')]);
  const frames = pauseFrames(data);

  it('are as many as counted, and end the run', () => {
    expect(frames).toHaveLength(pauseFramesCount(2));
    expect(frames.at(-1)).toEqual({ type: 'end' });
  });
  it('leave the calls pending until another run begins', () => {
    const paused = folded(begun, ...frames);
    expect(paused.pending.map(({ call_id: id, expires_at: at }) => [id, at])).toEqual([
      ['k1', data.expiresAt],
      ['k2', data.expiresAt],
    ]);
    expect(paused.parts.toolCalls.map(({ call_id: id, status }) => [id, status])).toEqual([
      ['k1', 'awaiting_approval'],
      ['k2', 'awaiting_approval'],
    ]);
    expect(withFrame(paused, begun).pending).toEqual([]);
  });
});
