import { NOTHING_SHARED } from './no-grants.js';
import type { Run } from '../../src/dialogue/answering/loop/agent-loop.js';
import { AnsweringOptions } from '../../src/dialogue/answering/loop/answering-options.js';
import type { AnswerDelta } from '../../src/dialogue/answering/loop/answer-delta.js';
import type { AnswerComposer } from '../../src/dialogue/answering/runner/answer-composer.js';
import { Continuations } from '../../src/dialogue/answering/continuations/continuations.js';
import { TurnCloser } from '../../src/dialogue/answering/runner/turn-closer.js';
import type { SharedUse } from '../../src/dialogue/answering/runner/shared-use.js';
import { TurnRunner } from '../../src/dialogue/answering/runner/turn-runner.js';
import { ask, conversation } from '../../src/dialogue/conversation/conversation.decider.js';
import { type CheckedInput, conversationStream, type TurnSettings } from '../../src/dialogue/conversation/conversation.events.js';
import { messageStream } from '../../src/dialogue/journal/message.events.js';
import { type BackgroundCalls, WAITING } from '../../src/dialogue/answering/loop/background-calls.port.js';
import type { Blobs } from '../../src/kernel/blobs.js';
import type { EventStore, StoredEvent } from '../../src/kernel/event-sourcing/event-store.js';
import type { Cause } from '../../src/kernel/event-sourcing/events.js';
import type { Signals } from '../../src/kernel/messaging/signals.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import type { Timing } from '../../src/kernel/timing.js';
import { MessageFeed } from '../../src/dialogue/journal/message-feed.js';
import { InMemoryBlobs } from './in-memory-blobs.js';
import { turnSettings } from './turn-settings.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { turnCommands } from './turn-commands.js';

export const cause: Cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' };

export const answeringOptions = new AnsweringOptions({
  worker: true,
  turnsConcurrentMax: 100,
  streamsMax: 100,
  staleProducerMs: 1_000,
  noWorkerTurnMs: 60_000,
  idempotencyTtlMs: 86_400_000,
  approvalTtlMs: 1_800_000,
  messageEventsRetentionSeconds: 1_209_600,
  shutdownMs: 1_000,
  apiBaseUrl: null,
  titleModelId: undefined,
});

export const settings: TurnSettings = turnSettings({ modelId: 'scripted' });

/** A composer that yields what the test scripts, and stops when it is aborted. */
export const scripted = (script: (signal: AbortSignal) => AsyncIterable<AnswerDelta>): AnswerComposer =>
  ({
    compose: (_: unknown, { signal }: Run) => script(signal),
    canContinue: () => Promise.resolve(false),
    onlyAsksModels: () => true,
  }) as unknown as AnswerComposer;

export const deltas = (...texts: string[]) =>
  async function* (): AsyncGenerator<AnswerDelta> {
    for (const text of texts) yield { type: 'text', text };
    yield { type: 'sources', sources: [] };
  };

/** A runner with its feed over a store: the answering part of a worker process. */
export function workerOver(
  store: EventStore,
  signals: Signals,
  composer: AnswerComposer,
  blobs: Blobs = new InMemoryBlobs(),
  timing: Timing = systemTiming,
  sharedUse: SharedUse = NOTHING_SHARED,
  calls: BackgroundCalls = WAITING,
) {
  const streams = new Streams(store, timing);
  const commands = turnCommands(streams, signals);
  const feed = new MessageFeed(store, signals, timing);
  const clock = { now: () => new Date() };
  const closer = new TurnCloser(store, streams, commands, new Continuations(blobs), clock, answeringOptions);
  const runner = new TurnRunner(streams, commands, signals, feed, composer, closer, calls, timing, systemIds, sharedUse);
  return { streams, feed, runner };
}

export async function askedTurn(
  store: EventStore,
  conversationId: string,
  turnId: string,
  more: Partial<TurnSettings> = {},
  checked?: CheckedInput,
): Promise<void> {
  const start = {
    conversationId,
    ownerId: 'alice',
    agentId: more.agentId ?? null,
    name: 'Why?',
    visibility: 'listed',
    sharedUsage: false,
    history: [],
  } as const;
  const question = {
    conversationId,
    turnId,
    index: null,
    question: 'Why?',
    requestId: 'r1',
    settings: { ...settings, ...more },
    ...(checked && { checked }),
  };
  await new Streams(store, systemTiming).transact(conversationStream(conversationId), conversation, ask(question, start), cause);
}

/** What a sweep does with an abandoned turn. */
export async function bringFurther(runner: TurnRunner, conversationId: string, turnId: string): Promise<void> {
  if ((await runner.recover(conversationId, turnId)) === 'requeued') await runner.run(conversationId, turnId);
}

export async function eventsOf(store: EventStore, stream: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const page of store.read(stream)) events.push(...page);
  return events;
}

export const framesOf = async (store: EventStore, turnId: string): Promise<Record<string, unknown>[]> =>
  (await eventsOf(store, messageStream(turnId))).map(({ data }) => JSON.parse(data) as Record<string, unknown>);
