import { describe, expect, it } from '@jest/globals';
import type { UnsealedTurnQueries } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { answeringOptions, askedTurn, bringFurther, cause, eventsOf, framesOf, deltas, scripted, settings, workerOver } from '../../../../test/support/turns.js'; // oxfmt-ignore
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { ask, conversation, rename } from '../../conversation/conversation.decider.js';
import { startTurn } from '../../conversation/turn.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import type { Decide } from '../../conversation/turn.policy.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessKeyValue } from '../../../platform/messaging/key-value/in-process-key-value.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { SweepTurns } from './sweep-turns.ticker.js';
import type { TurnRunner } from './turn-runner.js';

const stream = conversationStream('c1');
const OUTCOMES = ['TurnAnswered', 'TurnFailed', 'TurnStopped'];

const decideOn = (store: EventStore, decide: Decide, causationId = 'r1') =>
  new Streams(store, new VirtualTiming()).transact(stream, conversation, decide, { ...cause, causationId });

/** A conversation with `count` unclaimed turns, from `t1` on. */
async function withTurns(store: EventStore, count: number): Promise<readonly string[]> {
  const turnIds = Array.from({ length: count }, (_, index) => `t${index + 1}`);
  await askedTurn(store, 'c1', 't1');
  for (const turnId of turnIds.slice(1)) {
    const question = { conversationId: 'c1', turnId, index: null, question: `${turnId}?`, requestId: turnId, settings };
    await decideOn(store, ask(question, null), turnId);
  }
  return turnIds;
}

async function factsOf(store: EventStore, ...types: readonly string[]) {
  const facts = (await eventsOf(store, stream)).filter(({ type }) => types.includes(type));
  return facts.map(({ type, data }) => ({ type, data: JSON.parse(data) as { turnId: string; answer: string } }));
}

/** A log in which another append to the conversation precedes the first `races` appends of an outcome. */
function contended(log: EventStore, races: number): EventStore {
  let lost = 0;
  return new MortalStore(log, Infinity, async (to, types) => {
    if (to !== stream || lost >= races || !types.some((type) => OUTCOMES.includes(type))) return;
    lost++;
    await decideOn(log, rename(`Name ${lost}`), `rename ${lost}`);
  });
}

/** A sweeper that considers every turn abandoned that its runner does not report as running. */
function sweeperOf(runner: TurnRunner, turnIds: readonly string[]): () => Promise<void> {
  const queries = {
    untaken: () => Promise.resolve([]),
    taken: () => Promise.resolve({ producers: [runner.producer], paused: [] }),
    takenBy: (_: unknown, running: readonly string[]) =>
      Promise.resolve(turnIds.filter((turnId) => !running.includes(turnId)).map((turnId) => ({ turnId, conversationId: 'c1' }))),
  } as unknown as UnsealedTurnQueries;
  const sweeper = new SweepTurns(queries, new InProcessKeyValue(), runner, answeringOptions, new VirtualTiming());
  return () => sweeper.tick();
}

describe('turns of one conversation', () => {
  it.each([5, 20, 50])('%i turns that two processes run concurrently are each answered once', async (count) => {
    const log = new InMemoryEventStore();
    const turnIds = await withTurns(log, count);
    const workers = ['a', 'b'].map(() => workerOver(log, new InProcessSignals(), scripted(deltas('Because.'))));
    await Promise.all(turnIds.flatMap((turnId) => workers.map(({ runner }) => runner.run('c1', turnId))));
    const answered = await factsOf(log, ...OUTCOMES);
    expect(answered.map(({ type }) => type)).toEqual(turnIds.map(() => 'TurnAnswered'));
    expect(new Set(answered.map(({ data }) => data.turnId))).toEqual(new Set(turnIds));
    expect(await factsOf(log, 'TurnSealed')).toHaveLength(count);
  });

  it('can be recovered concurrently after their producer died', async () => {
    const log = new InMemoryEventStore();
    const turnIds = await withTurns(log, 20);
    for (const turnId of turnIds) await decideOn(log, startTurn(turnId, 'dead'), turnId);
    const { runner } = workerOver(log, new InProcessSignals(), scripted(deltas()));
    await Promise.all(turnIds.map((turnId) => bringFurther(runner, 'c1', turnId)));
    expect(await factsOf(log, 'TurnAnswered')).toHaveLength(20);
    expect(await factsOf(log, 'TurnSealed')).toHaveLength(20);
  });
});

describe('a complete answer', () => {
  const RACES = 60;

  it('is recorded although its append loses 60 races, and does not count as abandoned meanwhile', async () => {
    const log = new InMemoryEventStore();
    await askedTurn(log, 'c1', 't1');
    const { runner } = workerOver(
      contended(log, RACES),
      new InProcessSignals(),
      scripted(deltas('Because.')),
      undefined,
      new VirtualTiming(),
    );
    const sweep = sweeperOf(runner, ['t1']);
    const running = runner.run('c1', 't1');
    while ((await factsOf(log, 'ConversationRenamed')).length < RACES) {
      await sweep();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await running;
    await sweep();
    expect((await factsOf(log, ...OUTCOMES)).map(({ type, data }) => [type, data.answer])).toEqual([
      ['TurnAnswered', 'Because.'],
    ]);
    expect((await framesOf(log, 't1')).map(({ type }) => type)).toEqual([
      ...['message_id', 'answer', 'source', 'tool_calls', 'id', 'end'],
    ]);
  });

  it('counts as answered if its producer dies before it records the outcome', async () => {
    const log = new InMemoryEventStore();
    await askedTurn(log, 'c1', 't1');
    const dying = new MortalStore(log, Infinity, (_, types) => {
      if (types.some((type) => OUTCOMES.includes(type))) dying.die();
    });
    await workerOver(dying, new InProcessSignals(), scripted(deltas('Because.')))
      .runner.run('c1', 't1')
      .catch(() => undefined);
    await workerOver(log, new InProcessSignals(), scripted(deltas())).runner.recover('c1', 't1');
    const [outcome] = await factsOf(log, ...OUTCOMES);
    expect(outcome).toMatchObject({ type: 'TurnAnswered', data: { answer: 'Because.', modelId: 'scripted', usage: null } });
    expect((await framesOf(log, 't1')).map(({ type }) => type)).toEqual([
      ...['message_id', 'answer', 'source', 'tool_calls', 'id', 'end'],
    ]);
  });

  it('is distinguished from one that ends within its text or before its structured form, which counts as interrupted', async () => {
    for (const [schema, shown] of [
      [null, ['message_id', 'answer']],
      [{ type: 'object' }, ['message_id', 'source', 'tool_calls']],
    ] as const) {
      const log = new InMemoryEventStore();
      await askedTurn(log, 'c1', 't1', { responseSchema: schema });
      await decideOn(log, startTurn('t1', 'dead'));
      const frames = shown.map((type) => JSON.stringify({ type, answer: 'Be', source: [], tool_calls: [] }));
      const journaled = frames.map((data, index) => ({ id: `f${index}`, type: 'Frame', data, metadata: '{}' }));
      await log.append('message-t1', 'none', journaled);
      await workerOver(log, new InProcessSignals(), scripted(deltas())).runner.recover('c1', 't1');
      expect((await factsOf(log, ...OUTCOMES)).map(({ type }) => type)).toEqual(['TurnFailed']);
    }
  });
});
