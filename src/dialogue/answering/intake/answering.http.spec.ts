import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { NoLimits } from '../../../../test/support/no-limits.js';
import { answeringOptions } from '../../../../test/support/turns.js';
import type { Identity } from '../../../resources/identity/identity.js';
import { LastWrites } from '../../../kernel/event-sourcing/last-writes.js';
import { SseStreams } from '../../../platform/http/sse.js';
import { WaitingReplies } from '../../../platform/http/waiting-replies.js';
import type { AskQuestionIntake } from './ask-question-intake.js';
import { AnsweringController } from './answering.http.js';
import type { FrameTail } from '../../journal/frame-tail.js';

const { streamsMax } = answeringOptions.settings;

it('refuses a concurrent question for which the process has no free stream before it is accepted', async () => {
  const accepted: (() => void)[] = [];
  const accept = () => new Promise((_, reject) => accepted.push(() => reject(new Error('It is wrong.'))));
  const streams = new SseStreams({ keepaliveMs: 60_000, stallMs: 60_000, bufferedBytesMax: 1_024 });
  const intake = { accept } as unknown as AskQuestionIntake;
  const controller = new AnsweringController(
    intake,
    {} as FrameTail,
    streams,
    new LastWrites(),
    answeringOptions,
    new NoLimits(),
    new WaitingReplies(),
  );
  const alice = { callerOrReader: () => Promise.resolve({ kind: 'user', userId: 'alice' }) } as unknown as Identity;
  const ask = () => controller.stream({ question: 'Why?' }, alice, {}, {} as FastifyReply);

  const asking = Array.from({ length: streamsMax + 1 }, ask);
  await expect(asking.at(-1)).rejects.toMatchObject({ code: 'too-many-requests' });
  expect(accepted).toHaveLength(streamsMax);
  for (const refuse of accepted) refuse();
  for (const refused of asking.slice(0, -1)) await expect(refused).rejects.toThrow('It is wrong.');
  expect(streams.size).toBe(0);
});

it('fails a JSON answer whose stream ends early', async () => {
  const begun = '{"type":"message_id","message_id":"t1","conversation_id":"c1","request_id":"r1"}';
  const data = [begun, '{"type":"answer","answer":"Half of"}'];
  async function* tail() {
    yield { first: 0, last: 1, text: '', terminal: false, data };
  }
  const controller = new AnsweringController(
    { accept: () => Promise.resolve({ conversationId: 'c1', turnId: 't1', after: -1 }) } as unknown as AskQuestionIntake,
    { tail } as unknown as FrameTail,
    {} as SseStreams,
    new LastWrites(),
    answeringOptions,
    new NoLimits(),
    new WaitingReplies(),
  );
  const alice = { callerOrReader: () => Promise.resolve({ kind: 'user', userId: 'alice' }) } as unknown as Identity;
  const reply = { raw: new EventEmitter(), headers: () => undefined } as unknown as FastifyReply;
  await expect(controller.answer({ question: 'Why?' }, alice, {}, reply)).rejects.toMatchObject({ code: 'answer-failed' });
});

describe('a question whose answer has not begun when the process must end', () => {
  const waiting = new WaitingReplies();
  const written: string[] = [];
  const sse = { write: (text: string) => Promise.resolve(written.push(text) > 0), end: () => written.push('ended') };
  const streams = { reserve: () => () => undefined, start: () => sse } as unknown as SseStreams;
  const accept = () => Promise.resolve({ conversationId: 'c1', turnId: 't1', after: -1 });
  async function* tail(_turn: unknown, _after: number, signal: AbortSignal) {
    if (!signal.aborted) await once(signal, 'abort');
  }
  const controller = new AnsweringController(
    { accept } as unknown as AskQuestionIntake,
    { tail } as unknown as FrameTail,
    streams,
    new LastWrites(),
    answeringOptions,
    new NoLimits(),
    waiting,
  );
  const alice = { callerOrReader: () => Promise.resolve({ kind: 'user', userId: 'alice' }) } as unknown as Identity;
  const reply = () => ({ raw: new EventEmitter(), headers: () => undefined }) as unknown as FastifyReply;

  it('gets a documented error', async () => {
    const streamed = controller.stream({ question: 'Why?' }, alice, {}, reply());
    const answered = controller.answer({ question: 'Why?' }, alice, {}, reply());
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toEqual([]);
    waiting.close();
    await streamed;
    expect(written).toEqual([expect.stringMatching(/^data: \{"type":"error",.*"code":"shutting_down"\}\n\n$/), 'ended']);
    await expect(answered).rejects.toMatchObject({ code: 'shutting-down' });
    await expect(controller.answer({ question: 'Why?' }, alice, {}, reply())).rejects.toMatchObject({ code: 'shutting-down' });
  });
});
