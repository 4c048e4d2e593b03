import { noInputGuard } from '../../../test/support/guardrails.js';
import { LogEarlierTurns } from '../../../test/support/log-earlier-turns.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import { commandsOver } from '../../../test/support/commands-over.js';
import { CountedReads } from '../../../test/support/counted-reads.js';
import { MortalStore } from '../../../test/support/mortal-store.js';
import { askedTurn, cause, eventsOf, deltas, scripted, workerOver } from '../../../test/support/turns.js';
import { turnSettings } from '../../../test/support/turn-settings.js';
import { AutomaticTurnIntake } from '../../dialogue/answering/intake/automatic-turn-intake.js';
import type { QuestionResolver } from '../../dialogue/answering/intake/resolve-question.js';
import { asOwner, conversation, remove } from '../../dialogue/conversation/conversation.decider.js';
import { conversationStream, type TurnAsked } from '../../dialogue/conversation/conversation.events.js';
import { FOLLOW_UPS_IN_A_ROW_MAX } from '../../dialogue/conversation/turn.decider.js';
import { decodeCause, encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { type EventStore } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import type { WorkQueue } from '../../kernel/messaging/work-queue.js';
import type { Admission, UsageLimits } from '../../work/limits/usage-limits.port.js';
import type { LanguageModels } from '../../resources/models/model/language-model.port.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { CONVERSATIONS_PER_TICK_MAX, DeliverFollowUps, FOLLOW_UP_BATCH_MS } from './deliver-follow-ups.ticker.js';
import { RequestedFollowUps } from './requested-follow-ups.js';
import { FOLLOW_UP_TEXT_CHARACTERS_MAX } from './follow-up-text.policy.js';
import { GatherFollowUpsHandler, RequestFollowUpHandler, CompleteFollowUpsHandler } from './follow-ups.commands.js';
import { FOLLOW_UPS_PER_TURN_MAX } from './follow-ups.decider.js';
import { followUpsCodec } from './follow-ups.codec.js';
import { type FollowUpsEvent, followUpsStream } from './follow-ups.events.js';
import type { Timing } from '../../kernel/timing.js';
import { systemTiming } from '../../platform/system-timing.js';
import { turnCommands } from '../../../test/support/turn-commands.js';

const stream = conversationStream('c1');

let log: CountedReads;
/** The error that the admission throws. */
let refusal: Error | undefined;
/** A step that runs before the next admission. */
let meanwhile: (() => Promise<void>) | undefined;
let admitted: string[];
let resolved: unknown[];
/** The conversations whose follow-ups wait. */
let waiting: readonly string[];

function automaticTurns(store: EventStore, streams: Streams): AutomaticTurnIntake {
  const resolver = {
    hasPrompt: async (promptId: string) => promptId !== 'gone',
    resolve: async (request: unknown) => {
      resolved.push(request);
      return { settings: turnSettings({ modelId: 'scripted' }) };
    },
  } as unknown as QuestionResolver;
  const limits = {
    admit: async ({ turnId }: Admission) => {
      const step = meanwhile;
      meanwhile = undefined;
      await step?.();
      if (refusal) throw refusal;
      admitted.push(turnId);
    },
    withdraw: ({ turnId }: Admission) => void (admitted = admitted.filter((id) => id !== turnId)),
  } as UsageLimits;
  const models = { has: async () => true } as unknown as LanguageModels;
  const queue = { enqueue: () => Promise.reject(new Error('No queue.')) } as unknown as WorkQueue;
  return new AutomaticTurnIntake(
    store,
    streams,
    turnCommands(streams),
    resolver,
    models,
    limits,
    queue,
    new LogEarlierTurns(store),
    noInputGuard(streams, turnCommands(streams)),
  );
}

/** The ticker of one process, with its elapsed time. */
function ticking(store: EventStore = log) {
  const streams = new Streams(store, systemTiming);
  const queries = { waiting: async () => waiting } as unknown as FollowUpQueries;
  const commands = commandsOver(new GatherFollowUpsHandler(streams), new CompleteFollowUpsHandler(streams));
  let elapsedMs = 0;
  const timing = { elapsedMs: () => elapsedMs } as Timing;
  const ticker = new DeliverFollowUps(queries, streams, commands, automaticTurns(store, streams), timing);
  return { tick: () => ticker.tick(), pass: (ms: number) => (elapsedMs += ms) };
}

/** The ticker of one process that has seen all follow-ups for long enough when it ticks. */
function delivering(store: EventStore = log) {
  const { tick, pass } = ticking(store);
  const seen = tick();
  return {
    tick: async () => {
      await seen;
      pass(FOLLOW_UP_BATCH_MS);
      await tick();
    },
  };
}

function requestedFollowUps(): RequestedFollowUps {
  const streams = new Streams(log, systemTiming);
  const commands = commandsOver(new RequestFollowUpHandler(streams));
  return new RequestedFollowUps(commands, noInputGuard(streams, commands), automaticTurns(log, streams));
}

const followUp = (key: string, more: Readonly<{ text?: string; ownerId?: string }> = {}) =>
  requestedFollowUps().request(
    {
      conversationId: 'c1',
      ownerId: 'alice',
      source: 'job',
      refId: `ref of ${key}`,
      dedupeKey: key,
      text: `${key} is done.`,
      ...more,
    },
    cause,
  );
const answer = async (turnId: string, ...texts: string[]) => {
  const { runner } = workerOver(log, new InProcessSignals(), scripted(deltas(...texts)));
  await runner.run('c1', turnId);
};
const automatic = async () =>
  (await eventsOf(log, stream))
    .filter(({ type }) => type === 'TurnAsked')
    .map(({ data }) => JSON.parse(data) as TurnAsked['data'])
    .filter(({ origin }) => origin);
const settled = async () =>
  (await eventsOf(log, followUpsStream('c1')))
    .map(({ type }) => type)
    .filter((type) => type !== 'FollowUpRequested' && type !== 'FollowUpsGathered');

beforeEach(async () => {
  log = new CountedReads();
  [refusal, meanwhile, admitted, resolved, waiting] = [undefined, undefined, [], [], ['c1']];
  await askedTurn(log, 'c1', 't1');
});

describe('a follow-up of a conversation', () => {
  beforeEach(() => answer('t1', 'So.'));

  it('is not stored once the conversation is deleted', async () => {
    await new Streams(log, systemTiming).transact(stream, conversation, asOwner('alice', remove), cause);
    expect(await followUp('late')).toBe(false);
    expect(await eventsOf(log, followUpsStream('c1'))).toEqual([]);
  });

  it('is reported once, in one automatic turn with the other waiting ones', async () => {
    for (const key of ['a', 'b', 'a']) await followUp(key);
    await delivering().tick();
    const [turn, ...others] = await automatic();
    expect([turn!.question, turn!.index, others]).toEqual(['1. a is done.\n\n2. b is done.', 1, []]);
    expect(turn!.origin).toEqual({ kind: 'follow-up', source: 'job', refId: 'ref of a', dedupeKey: 'a' });
    expect(await settled()).toEqual(['FollowUpDelivered', 'FollowUpMerged']);
    expect(admitted).toEqual([turn!.turnId]);
    await delivering().tick();
    expect(await automatic()).toHaveLength(1);
  });

  it('is reported when the process has seen it for FOLLOW_UP_BATCH_MS', async () => {
    await followUp('a');
    const { tick, pass } = ticking();
    await tick();
    pass(FOLLOW_UP_BATCH_MS - 1);
    await tick();
    expect(await automatic()).toEqual([]);
    pass(1);
    await tick();
    expect(await automatic()).toHaveLength(1);
  });

  it('waits anew if its conversation was not free meanwhile', async () => {
    await followUp('a');
    const { tick, pass } = ticking();
    for (waiting of [['c1'], [], ['c1']]) {
      await tick();
      pass(FOLLOW_UP_BATCH_MS);
    }
    expect(await automatic()).toEqual([]);
    await tick();
    expect(await automatic()).toHaveLength(1);
  });

  it('is reported although those of many conversations before it fail in each tick', async () => {
    await followUp('a');
    const failing = Array.from({ length: CONVERSATIONS_PER_TICK_MAX }, (_, at) => `failing-${at}`);
    const unknown = { type: 'OfANewerVersion', data: '{}', metadata: encodeMetadata(cause) };
    for (const id of failing) await log.append(followUpsStream(id), 'none', [{ id: newId(), ...unknown }]);
    waiting = [...failing, 'c1'];
    const { tick, pass } = ticking();
    await tick();
    pass(FOLLOW_UP_BATCH_MS);
    await expect(tick()).rejects.toThrow(`${failing.length} of ${failing.length} failed`);
    await tick();
    expect(await automatic()).toHaveLength(1);
    pass(FOLLOW_UP_BATCH_MS);
    await expect(tick()).rejects.toThrow(`${failing.length} of`);
  });

  it('continues the causal chain of the oldest follow-up, also in another tick', async () => {
    for (const key of ['a', 'b']) await followUp(key);
    const [requested] = await eventsOf(log, followUpsStream('c1'));
    meanwhile = () => Promise.reject(new Error('The process is dead.'));
    await expect(delivering().tick()).rejects.toThrow('The process is dead.');
    await delivering().tick();
    const events = [...(await eventsOf(log, followUpsStream('c1'))).slice(2), (await eventsOf(log, stream)).at(-1)!];
    expect(events.map(({ type }) => type)).toEqual(['FollowUpsGathered', 'FollowUpDelivered', 'FollowUpMerged', 'TurnAsked']);
    const { correlationId } = cause;
    for (const { metadata } of events) expect(decodeCause(metadata)).toMatchObject({ correlationId, causationId: requested!.id });
  });

  it('is asked with the settings of the last question, resolved again', async () => {
    await followUp('a');
    await delivering().tick();
    expect(resolved).toEqual([
      {
        question: 'a is done.',
        conversation_id: 'c1',
        passthrough: {},
        model_id: 'scripted',
        prompt_id: '',
        active_docs: [],
        chunks: expect.any(Number),
        retriever: 'classic',
      },
    ]);
    await answer((await automatic())[0]!.turnId, 'NO_REPLY');
  });

  it('beyond the maximum of one turn is reported after that turn was answered', async () => {
    for (let n = 0; n <= FOLLOW_UPS_PER_TURN_MAX; n++) await followUp(`w${n}`);
    await delivering().tick();
    await delivering().tick();
    const [first, ...others] = await automatic();
    expect([first!.question.split('\n\n').length, others]).toEqual([FOLLOW_UPS_PER_TURN_MAX, []]);
    await answer(first!.turnId, 'Fine.');
    await delivering().tick();
    expect((await automatic())[1]!.question).toBe(`w${FOLLOW_UPS_PER_TURN_MAX} is done.`);
  });

  it('has a truncated text', async () => {
    await followUp('a', { text: '😀'.repeat(FOLLOW_UP_TEXT_CHARACTERS_MAX) });
    await delivering().tick();
    const { question } = (await automatic())[0]!;
    expect([question.length <= FOLLOW_UP_TEXT_CHARACTERS_MAX, question.endsWith('😀…')]).toEqual([true, true]);
  });

  it('waits while another turn is not answered', async () => {
    await askedTurn(log, 'c1', 't2');
    await followUp('a');
    await delivering().tick();
    expect([await automatic(), await settled(), admitted]).toEqual([[], [], []]);
    await answer('t2', 'So.');
    await delivering().tick();
    expect([(await automatic()).length, await settled()]).toEqual([1, ['FollowUpDelivered']]);
  });

  it('that waits is delivered without reading the earlier follow-ups of the conversation in each tick', async () => {
    const earlier = Array.from({ length: 200 }, (_, n): FollowUpsEvent => {
      const followUpId = `earlier ${n}`;
      const about = { conversationId: 'c1', followUpId };
      const requested = {
        ...about,
        ownerId: 'alice',
        source: 'job',
        refId: 'ref',
        dedupeKey: followUpId,
        text: 'Done.',
      } as const;
      return n % 2 === 0
        ? { type: 'FollowUpRequested', data: requested }
        : { type: 'FollowUpDelivered', data: { ...about, followUpId: `earlier ${n - 1}`, turnId: 't' } };
    });
    await new Streams(log, systemTiming).append(followUpsStream('c1'), 'none', followUpsCodec, earlier, cause);
    await askedTurn(log, 'c1', 't2');
    await followUp('a');
    const ticker = delivering();
    await ticker.tick();
    log.events = 0;
    await ticker.tick();
    expect(log.events).toBeLessThan(earlier.length / 2);
    await followUp('b');
    await ticker.tick();
    await answer('t2', 'So.');
    await ticker.tick();
    expect([(await automatic()).length, (await settled()).slice(100)]).toEqual([1, ['FollowUpDelivered']]);
    await answer((await automatic())[0]!.turnId, 'So.');
    await ticker.tick();
    expect((await automatic()).map(({ question }) => question)).toEqual(['a is done.', 'b is done.']);
  });

  it('is suppressed after FOLLOW_UPS_IN_A_ROW_MAX automatic turns in a row', async () => {
    for (let n = 0; n <= FOLLOW_UPS_IN_A_ROW_MAX; n++) {
      await followUp(`w${n}`);
      await delivering().tick();
      await answer((await automatic()).at(-1)!.turnId, 'Fine.');
    }
    expect(await settled()).toEqual([
      ...Array.from({ length: FOLLOW_UPS_IN_A_ROW_MAX }, () => 'FollowUpDelivered'),
      'FollowUpSuppressed',
    ]);
    await askedTurn(log, 'c1', 't2');
    await answer('t2', 'So.');
    await followUp('more');
    await delivering().tick();
    expect((await settled()).at(-1)).toBe('FollowUpDelivered');
  });

  it('is superseded if the conversation is deleted or belongs to another owner', async () => {
    await followUp('a', { ownerId: 'mallory' });
    await delivering().tick();
    await followUp('b');
    await new Streams(log, systemTiming).transact(stream, conversation, remove, cause);
    await delivering().tick();
    expect([await settled(), await automatic()]).toEqual([['FollowUpSuperseded', 'FollowUpSuperseded'], []]);
  });

  it('fails if the owner’s quota is used up', async () => {
    await followUp('a');
    refusal = new Rejection('quota-exceeded', 'The usage quota is used up.');
    await delivering().tick();
    const last = (await eventsOf(log, followUpsStream('c1'))).at(-1)!;
    expect([last.type, JSON.parse(last.data)]).toEqual([
      'FollowUpFailed',
      expect.objectContaining({ error: 'The usage quota is used up.' }),
    ]);
  });

  it('is delivered if another process has asked its turn while this one was refused', async () => {
    await followUp('a');
    meanwhile = async () => {
      // The other process asks the turn and has not recorded the delivery yet.
      await expect(delivering(new MortalStore(log, 1)).tick()).rejects.toThrow('The process is dead.');
      refusal = new Rejection('usage-limit', 'The limit is reached.');
    };
    await delivering().tick();
    expect([(await automatic()).length, await settled()]).toEqual([1, ['FollowUpDelivered']]);
  });

  it('is tried again after an error', async () => {
    await followUp('a');
    refusal = new Error('The database is away.');
    await expect(delivering().tick()).rejects.toThrow('The database is away.');
    expect([await settled(), admitted]).toEqual([[], []]);
    refusal = undefined;
    await delivering().tick();
    expect(await settled()).toEqual(['FollowUpDelivered']);
  });

  it('is delivered once by concurrent processes', async () => {
    for (let round = 0; round < 4; round++) {
      await Promise.all([followUp(`a${round}`), followUp(`b${round}`)]);
      // A process that loses a race tries again at the next tick.
      const racing = () =>
        delivering()
          .tick()
          .catch(() => undefined);
      await Promise.all([racing(), followUp(`c${round}`), racing(), racing()]);
      for (const { turnId } of await automatic()) await answer(turnId, 'Fine.');
      await askedTurn(log, 'c1', `q${round}`);
      await answer(`q${round}`, 'So.');
    }
    await delivering().tick();
    for (const { turnId } of await automatic()) await answer(turnId, 'Fine.');
    await delivering().tick();
    const told = (await automatic()).flatMap(({ question }) => question.match(/[abc]\d(?= is done)/g) ?? []);
    expect(told.sort()).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'b2', 'b3', 'c0', 'c1', 'c2', 'c3']);
    expect((await settled()).filter((type) => type === 'FollowUpDelivered' || type === 'FollowUpMerged')).toHaveLength(
      told.length,
    );
  });

  it('is delivered once, at whichever append a process dies', async () => {
    let deaths = 0;
    for (let appends = 0; appends < 5; appends++) {
      log = new CountedReads();
      await askedTurn(log, 'c1', 't1');
      await answer('t1', 'So.');
      for (const key of ['a', 'b']) await followUp(key);
      const mortal = new MortalStore(log, appends);
      await delivering(mortal)
        .tick()
        .catch(() => undefined);
      if (mortal.isDead) deaths++;
      await followUp('c');
      for (let tick = 0; tick < 3; tick++) {
        await delivering().tick();
        for (const { turnId } of await automatic()) await answer(turnId, 'Fine.');
      }
      const told = (await automatic()).flatMap(({ question }) => question.match(/[abc](?= is done)/g) ?? []);
      expect(told.sort()).toEqual(['a', 'b', 'c']);
      expect(await settled()).toHaveLength(3);
    }
    expect(deaths).toBe(3);
  });
});
