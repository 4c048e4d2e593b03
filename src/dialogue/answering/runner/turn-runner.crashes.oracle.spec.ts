import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import {
  composerOver,
  offeredAction,
  roundOf,
  ScriptedModels,
  text,
  toolCall,
  ToolsForTests,
  WITH_TOOLS,
} from '../../../../test/support/tool-turns.js';
import { expectSealed } from '../../../../test/support/turn-ends.js';
import { askedTurn, bringFurther, cause, eventsOf, settings, workerOver } from '../../../../test/support/turns.js';
import { ask, conversation, remove } from '../../conversation/conversation.decider.js';
import { requestStop } from '../../conversation/turn.decider.js';
import { type AnswerParts, conversationStream } from '../../conversation/conversation.events.js';
import { isTerminal, messageStream } from '../../journal/message.events.js';
import { messageOf } from '../../../../test/support/message.js';
import { type CallAnswer, expire, resume } from '../../conversation/pause.decider.js';
import type { Decide, Turn } from '../../conversation/turn.policy.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';

Logger.overrideLogger(false);

const stream = conversationStream('c1');
const AFTER_IT_EXPIRED = new Date('2100-01-01');

/** The decision that a client makes on the pause. */
type Then = (paused: Turn) => Decide;
const saying =
  (...answers: CallAnswer[]): Then =>
  () =>
    resume(answers, { userId: 'alice' }, new Date());
const approve = saying({ callId: 'k1', decision: 'approved' });

/** A log that outlives processes, the side effects that happened, and the processes themselves. */
class Lifetime {
  readonly log = new InMemoryEventStore();
  private readonly streams = new Streams(this.log, systemTiming);
  private readonly blobs = new InMemoryBlobs();
  readonly effects: string[] = [];
  /** The same effects, identified by their arguments instead of their call ids. */
  readonly deeds: string[] = [];
  /** The frames shown when a process ended. They must not change. */
  private shown: readonly string[] = [];

  constructor(private readonly idempotent: boolean) {}

  /** A model that makes a read, a write and a call that needs approval. After the decision it makes another write and answers. */
  private readonly models = new ScriptedModels((request) => {
    const rounds = [
      [
        text('Let me see. '),
        toolCall('k0', 'count_cards'),
        toolCall('k1', 'send_card', { to: 'bob' }),
        toolCall('k2', 'note_it', { text: 'asked' }),
      ],
      [text('One more. '), toolCall('k3', 'note_it', { text: 'done' })],
      [text('Done.')],
    ];
    return rounds[roundOf(request)]!;
  });

  process(appends = Infinity, before?: () => Promise<void>) {
    const store = new MortalStore(this.log, appends, before, before);
    const actions = [
      offeredAction('count_cards'),
      offeredAction('send_card', { access: 'write', requiresApproval: true, idempotent: this.idempotent }),
      offeredAction('note_it', { access: 'write' }),
    ];
    const tools = new ToolsForTests(actions, ({ name, args, context }) => {
      if (store.isDead) throw new Error('The process is dead.');
      if (name !== 'count_cards') {
        this.effects.push(`${name} ${context.callId}`);
        this.deeds.push(`${name} ${JSON.stringify(args)}`);
      }
      return { done: name };
    });
    const composer = composerOver(this.models, tools, this.blobs);
    const { runner } = workerOver(store, new InProcessSignals(), composer, this.blobs);
    return {
      store,
      run: () => runner.run('c1', 't1').catch(() => undefined),
      recover: () => bringFurther(runner, 'c1', 't1').catch(() => undefined),
      /** Acts like a sweep: runs the turn if it is unclaimed, recovers it if it is abandoned. */
      sweep: async () => {
        await runner.run('c1', 't1');
        await bringFurther(runner, 'c1', 't1');
      },
    };
  }

  decide = (decision: Decide) => this.streams.transact(stream, conversation, decision, cause);

  async turn(): Promise<Turn> {
    return (await this.streams.fold(stream, conversation)).state.turns.get('t1')!;
  }

  /** Runs the turn in a process up to its pause and on after `then`, unless the process dies. Then another process sweeps. */
  async lived(appends: number, then: Then): Promise<{ died: boolean }> {
    await askedTurn(this.log, 'c1', 't1', WITH_TOOLS);
    const first = this.process(appends);
    await first.run();
    await this.resumed(then);
    if (!first.store.isDead) await first.run();
    await this.expectShownStays();
    const next = this.process();
    await next.sweep();
    await this.expectShownStays();
    await this.resumed(then);
    await next.sweep();
    await next.sweep();
    await this.expectShownStays();
    return { died: first.store.isDead };
  }

  private async resumed(then: Then): Promise<void> {
    const turn = await this.turn();
    if (turn.status === 'paused' && turn.runs === 1) await this.decide(then(turn));
  }

  private async expectShownStays(): Promise<void> {
    const frames = (await eventsOf(this.log, messageStream('t1'))).map(({ data }) => data);
    expect(frames.slice(0, this.shown.length)).toEqual(this.shown);
    this.shown = frames;
  }

  async types(): Promise<string[]> {
    return (await eventsOf(this.log, stream)).map(({ type }) => type);
  }

  /** Expects one outcome, one seal, complete runs, and a journal with the same answer and calls as the conversation. */
  async expectWhole(): Promise<AnswerParts | undefined> {
    const events = await eventsOf(this.log, stream);
    const outcomes = events.filter(({ type }) => ['TurnAnswered', 'TurnFailed', 'TurnStopped'].includes(type));
    const isDeleted = events.some(({ type }) => type === 'ConversationDeleted');
    expect(outcomes.length).toBeLessThanOrEqual(1);
    if (!isDeleted) expect(outcomes).toHaveLength(1);
    await expectSealed(this.log);
    const turn = await this.turn();
    const runs = runsOf(await eventsOf(this.log, messageStream('t1')));
    expect(runs).toHaveLength(turn.runs);
    for (const run of runs) {
      expect(run.map((data) => data.startsWith('{"type":"message_id"'))).toEqual(run.map((_, index) => index === 0));
      expect(run.filter(isTerminal)).toEqual([run.at(-1)]);
    }
    if (isDeleted) return undefined;
    const kept = JSON.parse(outcomes[0]!.data) as AnswerParts;
    const { parts } = messageOf(runs.flat());
    expect({ answer: kept.answer, calls: byId(kept) }).toEqual({ answer: parts.answer, calls: byId(parts) });
    return kept;
  }
}

const byId = ({ toolCalls }: AnswerParts) => Object.fromEntries(toolCalls.map((call) => [String(call['call_id']), call]));

/** The frames of a journal, grouped by run. */
function runsOf(events: readonly { data: string }[]): string[][] {
  const runs: string[][] = [[]];
  for (const { data } of events) {
    if (isTerminal(runs.at(-1)!.at(-1) ?? '{}')) runs.push([]);
    runs.at(-1)!.push(data);
  }
  return runs;
}

const APPENDS_MAX = 32;
const SEEDS = 400;
const DEATHS = Array.from({ length: APPENDS_MAX }, (_, appends) => appends);

const timesOf = (effects: readonly string[], effect: string) => effects.filter((each) => each === effect).length;

describe.each([false, true])('a turn whose tool is idempotent: %p, whose process dies', (idempotent) => {
  const lived = async (appends: number, then: Then) => {
    const life = new Lifetime(idempotent);
    return { life, ...(await life.lived(appends, then)) };
  };

  it.each(DEATHS)('after %i appends, has no effect twice and keeps approvals', async (appends) => {
    const { life } = await lived(appends, approve);
    const kept = (await life.expectWhole())!;
    const types = await life.types();
    const times = timesOf(life.effects, 'send_card k1');
    const { k1 } = byId(kept) as Record<string, { status: string; error_type?: string }>;
    if (!types.includes('ToolCallApproved')) {
      expect([times, types.includes('TurnFailed')]).toEqual([0, true]);
    } else if (idempotent) {
      expect(times).toBeGreaterThanOrEqual(1);
      expect(k1).toMatchObject({ status: 'completed', result: '{"done":"send_card"}' });
    } else {
      expect(times).toBeLessThanOrEqual(1);
      if (k1!.status !== 'completed' || times === 0) expect(k1).toMatchObject({ status: 'error', error_type: 'outcome_unknown' });
    }
    for (const note of ['note_it k2', 'note_it k3']) expect(timesOf(life.effects, note)).toBeLessThanOrEqual(1);
    expect(kept.toolCalls.filter(({ status }) => status === 'pending' || status === 'awaiting_approval')).toEqual([]);
    const began = types.filter((type) => type === 'ToolCallStarted').length;
    expect(life.effects.length).toBeLessThanOrEqual(began);
  });

  it.each(DEATHS)('after %i appends, does not run denied calls', async (appends) => {
    const { life } = await lived(appends, saying({ callId: 'k1', decision: 'denied', comment: 'no' }));
    const kept = (await life.expectWhole())!;
    expect(timesOf(life.effects, 'send_card k1')).toBe(0);
    if ((await life.types()).includes('ToolCallDenied')) expect(byId(kept)['k1']).toMatchObject({ status: 'denied' });
  });
});

describe('a paused turn whose process dies', () => {
  const ended: readonly (readonly [string, Then, string])[] = [
    ['is left until it expires', () => expire('t1', AFTER_IT_EXPIRED), 'expired'],
    [
      'is left for another question',
      () => ask({ conversationId: 'c1', turnId: 't2', index: null, question: 'And?', requestId: 'r2', settings }, null),
      'moved_on',
    ],
    [
      'is replaced by another question',
      () => ask({ conversationId: 'c1', turnId: 't2', index: 0, question: 'And?', requestId: 'r2', settings }, null),
      'moved_on',
    ],
  ];
  describe.each(ended)('and that %s', (_, then, notRun) => {
    it.each(DEATHS)('after %i appends, keeps its text and runs no pending call', async (appends) => {
      const life = new Lifetime(false);
      await life.lived(appends, then);
      const kept = (await life.expectWhole())!;
      expect(timesOf(life.effects, 'send_card k1')).toBe(0);
      if (!(await life.types()).includes('TurnPaused')) return;
      expect(kept).toMatchObject({ answer: 'Let me see. ' });
      expect(byId(kept)).toMatchObject({ k0: { status: 'completed' }, k1: { status: 'denied', not_run: notRun } });
    });
  });

  it.each(DEATHS)('after %i appends, and whose conversation is deleted during the pause, gets an end', async (appends) => {
    const life = new Lifetime(false);
    await life.lived(appends, () => remove);
    await life.expectWhole();
    expect(timesOf(life.effects, 'send_card k1')).toBe(0);
  });

  const resumedThen =
    (decision: Decide): Then =>
    (turn) =>
    (state) => {
      const resumed = approve(turn)(state);
      return [...resumed, ...decision(resumed.reduce(conversation.evolve, state))];
    };

  it.each(DEATHS)(
    'after %i appends, and that is stopped when it is resumed, ends stopped and runs no pending call',
    async (appends) => {
      const life = new Lifetime(false);
      await life.lived(appends, resumedThen(requestStop('t1')));
      const kept = (await life.expectWhole())!;
      expect(timesOf(life.effects, 'send_card k1')).toBe(0);
      if (!(await life.types()).includes('TurnPaused')) return;
      expect(await life.types()).toContain('TurnStopped');
      expect(byId(kept)['k1']).toMatchObject({ status: 'skipped' });
    },
  );

  it.each(DEATHS)('after %i appends, and whose conversation is deleted when it is resumed, gets an end', async (appends) => {
    const life = new Lifetime(false);
    await life.lived(appends, resumedThen(remove));
    await life.expectWhole();
    expect(timesOf(life.effects, 'send_card k1')).toBe(0);
  });
});

/** Pseudo-random numbers that are reproducible by their seed. */
function chances(seed: number) {
  let state = seed * 2_654_435_761;
  return (below: number): number => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    state = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((state ^ (state >>> 15)) >>> 0) % below;
  };
}

/** Runs and recovers the same turn in slow and dying processes at random times, also while its producer is alive. */
async function meddled(seed: number): Promise<Lifetime> {
  const chance = chances(seed);
  const ticks = async (most: number) => {
    for (let left = chance(most); left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
  };
  const life = new Lifetime(false);
  await askedTurn(life.log, 'c1', 't1', WITH_TOOLS);
  const processes = Array.from({ length: 3 }, () => life.process(5 + chance(30), () => ticks(6)));
  const meddler = async ({ run, recover }: (typeof processes)[number]) => {
    for (let turns = 0; turns < 6; turns++) {
      await ticks(20);
      await (chance(3) === 0 ? recover() : run());
    }
  };
  const client = async () => {
    const end = chance(6);
    for (let turns = 0; turns < 12; turns++) {
      await ticks(10);
      const turn = await life.turn();
      if (turn.status === 'paused') await life.decide(approve(turn)).catch(() => undefined);
      if (turns === 6 && end === 0) await life.decide(requestStop('t1')).catch(() => undefined);
      if (turns === 6 && end === 1) await life.decide(remove);
    }
  };
  await Promise.all([...processes.map(meddler), client()]);
  const last = life.process();
  await last.sweep();
  const turn = await life.turn();
  if (turn.status === 'paused') await life.decide(approve(turn)).catch(() => undefined);
  await last.sweep();
  await last.sweep();
  return life;
}

it('with processes that run and recover it at random times, a turn ends once and completely, and no effect happens twice', async () => {
  let approvals = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      const life = await meddled(seed);
      await life.expectWhole();
      expect([...new Set(life.deeds)]).toEqual(life.deeds);
      if ((await life.types()).includes('ToolCallApproved')) approvals++;
    } catch (error) {
      throw new Error(`Seed ${seed} shows otherwise.`, { cause: error });
    }
  }
  expect(approvals).toBeGreaterThan(SEEDS / 5);
});

it('a process that dies only after APPENDS_MAX appends completes the turn', async () => {
  const { died } = await new Lifetime(false).lived(APPENDS_MAX, approve);
  expect(died).toBe(false);
});
