import { expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { turnPaused, waitingCall } from '../../../../test/support/pauses.js';
import { askedTurn, cause, eventsOf, framesOf, deltas, scripted, workerOver } from '../../../../test/support/turns.js';
import { as, conversation, remove } from '../../conversation/conversation.decider.js';
import { requestStop, startTurn } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { FRAME_EVENT, messageStream } from '../../journal/message.events.js';
import { pauseFrames, pauseFramesCount } from '../../journal/message.policy.js';
import { expire, pause } from '../../conversation/pause.decider.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import type { Decide } from '../../conversation/turn.policy.js';
import { newId } from '../../../kernel/ids.js';
import { INLINE_BYTES_MAX } from '../../../kernel/own-blobs.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';

const stream = conversationStream('c1');
const turn = { conversationId: 'c1', turnId: 't1' };
const AFTER_IT_EXPIRED = new Date('2026-01-02');

/** A log that runs `meanwhile` before the given read, counted from the call of `before`. */
class InterruptedStore extends InMemoryEventStore {
  private readsLeft = Infinity;
  private meanwhile: (() => Promise<unknown>) | undefined;

  before(read: number, meanwhile: () => Promise<unknown>): void {
    this.readsLeft = read;
    this.meanwhile = meanwhile;
  }

  override async *read(...given: Parameters<InMemoryEventStore['read']>): ReturnType<InMemoryEventStore['read']> {
    if (--this.readsLeft === 0) await this.meanwhile!();
    yield* super.read(...given);
  }
}

it('a pause that expires while it is being recovered still gets its last run', async () => {
  const store = new InterruptedStore();
  const streams = new Streams(store, systemTiming);
  const { runner } = workerOver(store, new InProcessSignals(), scripted(deltas('So.')));
  const decide = (decision: Decide) => streams.transact(stream, conversation, decision, cause);
  await askedTurn(store, 'c1', 't1');
  await decide(startTurn('t1', 'dead'));
  const first = { type: 'message_id', message_id: 't1', conversation_id: 'c1', request_id: 'r1' };
  const { data } = turnPaused(turn, [waitingCall('k1')]);
  const paused = { ...data, lastId: pauseFramesCount(1) };
  await decide(pause(paused, 'dead'));
  const frames = [first, ...pauseFrames(paused)].map((frame) => JSON.stringify(frame));
  const journaled = frames.map((text) => ({ id: newId(), type: FRAME_EVENT, data: text, metadata: '{}' }));
  await store.append(messageStream('t1'), 'none', journaled);

  store.before(2, () => decide(expire('t1', AFTER_IT_EXPIRED)));
  await runner.recover('c1', 't1');
  await runner.run('c1', 't1');

  const shown = (await eventsOf(store, messageStream('t1'))).slice(frames.length);
  expect(shown.map(({ data }) => (JSON.parse(data) as { type: string }).type)).toEqual([
    ...['message_id', 'tool_call', 'source', 'tool_calls', 'id', 'end'],
  ]);
  const conversed = await eventsOf(store, stream);
  expect(conversed.map(({ type }) => type).slice(-3)).toEqual(['ToolCallDenied', 'TurnAnswered', 'TurnSealed']);
  expect(JSON.parse(conversed.at(-1)!.data)).toMatchObject({ lastId: frames.length + shown.length - 1 });
});

it('a pause that comes too late, because the conversation was deleted, leaves no continuation behind', async () => {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  const blobs = new InMemoryBlobs();
  const pausesTooLate = async function* (): AsyncGenerator<AnswerDelta> {
    await streams.transact(stream, conversation, as({ userId: 'alice' }, remove), cause);
    yield { type: 'pause', calls: [waitingCall('k1')], continuation: JSON.stringify('x'.repeat(2 * INLINE_BYTES_MAX)) };
  };
  await askedTurn(store, 'c1', 't1');
  await workerOver(store, new InProcessSignals(), scripted(pausesTooLate), blobs).runner.run('c1', 't1');
  const types = (await eventsOf(store, stream)).map(({ type }) => type);
  expect([types.includes('TurnPaused'), types.at(-1)]).toEqual([false, 'TurnSealed']);
  expect(blobs.text()).toBe('');
});

it('a failed answer that was to be stopped when its producer died shows only the frame of the stop', async () => {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  await askedTurn(store, 'c1', 't1');
  await streams.transact(stream, conversation, startTurn('t1', 'dead'), cause);
  const first = { type: 'message_id', message_id: 't1', conversation_id: 'c1', request_id: 'r1' };
  const frames = [first, { type: 'answer', answer: 'Be' }, { type: 'error', error: 'Too much.', code: 'overloaded' }];
  const journaled = frames.map((frame) => ({ id: newId(), type: FRAME_EVENT, data: JSON.stringify(frame), metadata: '{}' }));
  await store.append(messageStream('t1'), 'none', journaled);
  await streams.transact(stream, conversation, requestStop('t1'), cause);

  await workerOver(store, new InProcessSignals(), scripted(deltas('So.'))).runner.recover('c1', 't1');

  expect((await framesOf(store, 't1')).slice(frames.length)).toMatchObject([{ type: 'error', code: 'stopped' }]);
  expect((await eventsOf(store, stream)).map(({ type }) => type).slice(-2)).toEqual(['TurnStopped', 'TurnSealed']);
});

it('a failed answer ends once, although another process ends it between the two reads of a recovery', async () => {
  const store = new InterruptedStore();
  const streams = new Streams(store, systemTiming);
  const [one, other] = [0, 1].map(() => workerOver(store, new InProcessSignals(), scripted(deltas('So.'))).runner);
  await askedTurn(store, 'c1', 't1');
  await streams.transact(stream, conversation, startTurn('t1', 'dead'), cause);
  const first = { type: 'message_id', message_id: 't1', conversation_id: 'c1', request_id: 'r1' };
  const frames = [first, { type: 'answer', answer: 'Be' }, { type: 'error', error: 'Too much.', code: 'overloaded' }];
  const journaled = frames.map((frame) => ({ id: newId(), type: FRAME_EVENT, data: JSON.stringify(frame), metadata: '{}' }));
  await store.append(messageStream('t1'), 'none', journaled);

  // The first two reads are those of the abandoned turn, the next two those after it was taken over.
  store.before(4, () => other!.recover('c1', 't1'));
  await one!.recover('c1', 't1');

  expect((await framesOf(store, 't1')).slice(frames.length)).toMatchObject([{ type: 'id' }, { type: 'end' }]);
  expect((await eventsOf(store, stream)).map(({ type }) => type).slice(-2)).toEqual(['TurnFailed', 'TurnSealed']);
});
