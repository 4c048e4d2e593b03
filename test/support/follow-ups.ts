import { noInputGuard } from './guardrails.js';
import { LogEarlierTurns } from './log-earlier-turns.js';
import type { FollowUpQueries } from '../../projections/follow-ups/follow-ups.queries.js';
import { commandsOver } from './commands-over.js';
import { CountedReads } from './counted-reads.js';
import { askedTurn, cause, eventsOf, deltas, scripted, workerOver } from './turns.js';
import { turnSettings } from './turn-settings.js';
import { AutomaticTurnIntake } from '../../src/dialogue/answering/intake/automatic-turn-intake.js';
import type { QuestionResolver } from '../../src/dialogue/answering/intake/resolve-question.js';
import { conversationStream, type TurnAsked } from '../../src/dialogue/conversation/conversation.events.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import type { WorkQueue } from '../../src/kernel/messaging/work-queue.js';
import type { Admission, UsageLimits } from '../../src/work/limits/usage-limits.port.js';
import type { LanguageModels } from '../../src/resources/models/model/language-model.port.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { DeliverFollowUps, FOLLOW_UP_BATCH_MS } from '../../src/background/follow-ups/deliver-follow-ups.ticker.js';
import { RequestedFollowUps } from '../../src/background/follow-ups/requested-follow-ups.js';
import {
  GatherFollowUpsHandler,
  RequestFollowUpHandler,
  CompleteFollowUpsHandler,
} from '../../src/background/follow-ups/follow-ups.commands.js';
import { followUpsStream } from '../../src/background/follow-ups/follow-ups.events.js';
import type { Timing } from '../../src/kernel/timing.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { turnCommands } from './turn-commands.js';

const stream = conversationStream('c1');

type FollowUpWorld = {
  log: CountedReads;
  /** The error that the admission throws. */
  refusal: Error | undefined;
  /** A step that runs before the next admission. */
  meanwhile: (() => Promise<void>) | undefined;
  admitted: string[];
  resolved: unknown[];
  /** The conversations whose follow-ups wait. */
  waiting: readonly string[];
  /** How many of them each tick has asked for. */
  limits: number[];
};

const newWorld = (): FollowUpWorld => ({
  log: new CountedReads(),
  refusal: undefined,
  meanwhile: undefined,
  admitted: [],
  resolved: [],
  waiting: ['c1'],
  limits: [],
});

/** The conversation `c1` and its follow-ups. */
export const world = newWorld();

/** Begins the conversation anew, with its first question. */
export async function beginAnew(): Promise<void> {
  Object.assign(world, newWorld());
  await askedTurn(world.log, 'c1', 't1');
}

function automaticTurns(store: EventStore, streams: Streams): AutomaticTurnIntake {
  const resolver = {
    hasPrompt: async (promptId: string) => promptId !== 'gone',
    resolve: async (request: unknown) => {
      world.resolved.push(request);
      return { settings: turnSettings({ modelId: 'scripted' }) };
    },
  } as unknown as QuestionResolver;
  const limits = {
    admit: async ({ turnId }: Admission) => {
      const step = world.meanwhile;
      world.meanwhile = undefined;
      await step?.();
      if (world.refusal) throw world.refusal;
      world.admitted.push(turnId);
    },
    withdraw: ({ turnId }: Admission) => void (world.admitted = world.admitted.filter((id) => id !== turnId)),
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
export function ticking(store: EventStore = world.log) {
  const streams = new Streams(store, systemTiming);
  const queries = {
    waiting: async (limit: number) => {
      world.limits.push(limit);
      return world.waiting.slice(0, limit);
    },
  } as unknown as FollowUpQueries;
  const commands = commandsOver(new GatherFollowUpsHandler(streams), new CompleteFollowUpsHandler(streams));
  let elapsedMs = 0;
  const timing = { elapsedMs: () => elapsedMs } as Timing;
  const ticker = new DeliverFollowUps(queries, streams, commands, automaticTurns(store, streams), timing);
  return { tick: () => ticker.tick(), pass: (ms: number) => (elapsedMs += ms) };
}

/** The ticker of one process that has seen all follow-ups for long enough when it ticks. */
export function delivering(store: EventStore = world.log) {
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
  const streams = new Streams(world.log, systemTiming);
  const commands = commandsOver(new RequestFollowUpHandler(streams));
  return new RequestedFollowUps(commands, noInputGuard(streams, commands), automaticTurns(world.log, streams));
}

/** Requests a follow-up of the conversation. */
export const followUp = (key: string, more: Readonly<{ text?: string; ownerId?: string }> = {}) =>
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
/** Answers a turn. */
export const answer = async (turnId: string, ...texts: string[]) => {
  const { runner } = workerOver(world.log, new InProcessSignals(), scripted(deltas(...texts)));
  await runner.run('c1', turnId);
};
/** The automatic turns of the conversation. */
export const automatic = async () =>
  (await eventsOf(world.log, stream))
    .filter(({ type }) => type === 'TurnAsked')
    .map(({ data }) => JSON.parse(data) as TurnAsked['data'])
    .filter(({ origin }) => origin);
/** What became of its follow-ups. */
export const settled = async () =>
  (await eventsOf(world.log, followUpsStream('c1')))
    .map(({ type }) => type)
    .filter((type) => type !== 'FollowUpRequested' && type !== 'FollowUpsGathered');
