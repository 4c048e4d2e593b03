import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { askedTurn, bringFurther, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { REQUEUES_MAX } from '../../conversation/turn.decider.js';
import type { Frame } from '../../journal/message.events.js';
import type { Run } from '../loop/agent-loop.js';
import type { AnswerDelta, ProgressFrame } from '../loop/answer-delta.js';
import type { AnswerComposer } from './answer-composer.js';

Logger.overrideLogger(false);

const FACTS = 'facts-t1';
const STEPS = 3;
const stepFrame = (step: number, status: 'researching' | 'complete'): ProgressFrame => ({
  type: 'research_progress',
  data: { status, step, total: STEPS, query: `q${step}` },
});
const isSame = (one: Frame, other: Frame) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Composes three steps and records each at its end. With `speaks` each step writes text before that. `done` collects the steps
 * that ran.
 */
function stepwise(store: EventStore, speaks: boolean, done: number[]): AnswerComposer {
  async function* compose(_: unknown, { shown, signal }: Run): AsyncGenerator<AnswerDelta> {
    const missing = (frame: ProgressFrame): readonly AnswerDelta[] =>
      shown.some((known) => isSame(known, frame)) ? [] : [{ type: 'progress', frame }];
    const recorded = (await eventsOf(store, FACTS)).length;
    for (let step = 1; step <= STEPS && !signal.aborted; step++) {
      yield* missing(stepFrame(step, 'researching'));
      if (step > recorded) {
        if (speaks) yield { type: 'text', text: `text ${step} ` };
        yield { type: 'checkpoint' };
        done.push(step);
        const fact = { id: crypto.randomUUID(), type: 'Done', data: `${step}`, metadata: '{}' };
        await store.append(FACTS, step === 1 ? 'none' : step - 2, [fact]);
      }
      yield* missing(stepFrame(step, 'complete'));
    }
    yield { type: 'text', text: 'The end.' };
  }
  /** False if a step that is not recorded has written text, because the text would be written twice. */
  const canContinue = async (_: unknown, shown: readonly Frame[]) =>
    shown.filter(({ type }) => type === 'answer').length <= (speaks ? (await eventsOf(store, FACTS)).length : 0);
  return { compose, canContinue } as unknown as AnswerComposer;
}

/** Runs a turn whose first process dies after `deathAfter` appends and which another process completes. */
async function course({ deathAfter, speaks }: { deathAfter: number; speaks: boolean }) {
  const log = new InMemoryEventStore();
  const done: number[] = [];
  const process = (store: EventStore) => workerOver(store, new InProcessSignals(), stepwise(store, speaks, done)).runner;
  await askedTurn(log, 'c1', 't1', { agentType: 'research' });
  const first = new MortalStore(log, deathAfter);
  await process(first)
    .run('c1', 't1')
    .catch(() => undefined);
  const shownAtDeath = await framesOf(log, 't1');
  const sweeper = process(log);
  await bringFurther(sweeper, 'c1', 't1');
  // Runs a turn that was not claimed yet, as the queue does.
  await sweeper.run('c1', 't1');
  const conversation = (await eventsOf(log, conversationStream('c1'))).map(({ type }) => type);
  return { isDead: first.isDead, shownAtDeath, frames: await framesOf(log, 't1'), done, conversation };
}

const outline = (frames: readonly Record<string, unknown>[]) => frames.map((frame) => JSON.stringify(frame));
const ofOneProcess = (frames: readonly Record<string, unknown>[]) => outline(frames).slice(1);

describe.each([
  { program: 'silent steps', speaks: false },
  { program: 'steps that speak', speaks: true },
])('a turn of $program, whose producer dies after any append', ({ speaks }) => {
  it('keeps the shown frames, repeats no recorded step, and ends once', async () => {
    const whole = await course({ deathAfter: Infinity, speaks });
    expect(whole.conversation.at(-1)).toBe('TurnSealed');
    let wasDead = true;
    let requeued = 0;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const { isDead, shownAtDeath, frames, done, conversation } = await course({ deathAfter, speaks });
      wasDead = isDead;
      expect(outline(frames).slice(0, shownAtDeath.length)).toEqual(outline(shownAtDeath));
      expect(frames.filter(({ type }) => type === 'end')).toHaveLength(1);
      expect(conversation.filter((type) => type === 'TurnAnswered' || type === 'TurnFailed')).toHaveLength(1);
      expect(conversation.at(-1)).toBe('TurnSealed');
      const isInterrupted = frames.some(({ code }) => code === 'interrupted');
      if (conversation.includes('TurnRequeued')) requeued++;
      if (isInterrupted) expect(done.length).toBeLessThanOrEqual(STEPS);
      else expect(ofOneProcess(frames)).toEqual(ofOneProcess(whole.frames));
      // Only the one step whose record was lost with its producer may run twice.
      expect(done.length).toBeLessThanOrEqual(STEPS + 1);
    }
    expect(requeued).toBeGreaterThan(2);
  });
});

it('a turn is ended as interrupted if another run would write its text twice', async () => {
  const log = new InMemoryEventStore();
  const done: number[] = [];
  await askedTurn(log, 'c1', 't1', { agentType: 'research' });
  const store: MortalStore = new MortalStore(log, Infinity, (stream) => (stream === FACTS ? store.die() : undefined));
  const composer = (over: EventStore) => stepwise(over, true, done);
  await workerOver(store, new InProcessSignals(), composer(store))
    .runner.run('c1', 't1')
    .catch(() => undefined);
  await bringFurther(workerOver(log, new InProcessSignals(), composer(log)).runner, 'c1', 't1');
  const frames = await framesOf(log, 't1');
  expect(frames.map(({ type, code }) => code ?? type)).toEqual([
    ...['message_id', 'research_progress', 'answer'],
    ...['interrupted', 'id', 'end'],
  ]);
  expect(done).toEqual([1]);
});

it('a turn is ended as interrupted after too many of its producers died', async () => {
  const log = new InMemoryEventStore();
  await askedTurn(log, 'c1', 't1', { agentType: 'research' });
  for (let deaths = 0; deaths <= REQUEUES_MAX + 1; deaths++) {
    const store: MortalStore = new MortalStore(log, Infinity, (stream) => (stream === FACTS ? store.die() : undefined));
    const { runner } = workerOver(store, new InProcessSignals(), stepwise(store, false, []));
    await (deaths === 0 ? runner.run('c1', 't1') : bringFurther(runner, 'c1', 't1')).catch(() => undefined);
  }
  await bringFurther(workerOver(log, new InProcessSignals(), stepwise(log, false, [])).runner, 'c1', 't1');
  const types = (await eventsOf(log, conversationStream('c1'))).map(({ type }) => type);
  expect(types.filter((type) => type === 'TurnRequeued')).toHaveLength(REQUEUES_MAX);
  expect((await framesOf(log, 't1')).map(({ type, code }) => code ?? type).slice(-3)).toEqual(['interrupted', 'id', 'end']);
});

it('a turn of an agent that records no steps is never run again after it has begun', async () => {
  const log = new InMemoryEventStore();
  const done: number[] = [];
  await askedTurn(log, 'c1', 't1', { agentType: 'agentic' });
  const store: MortalStore = new MortalStore(log, Infinity, (stream) => (stream === FACTS ? store.die() : undefined));
  await workerOver(store, new InProcessSignals(), stepwise(store, false, done))
    .runner.run('c1', 't1')
    .catch(() => undefined);
  await bringFurther(workerOver(log, new InProcessSignals(), stepwise(log, false, done)).runner, 'c1', 't1');
  expect(done).toEqual([1]);
  expect((await framesOf(log, 't1')).some(({ code }) => code === 'interrupted')).toBe(true);
});
