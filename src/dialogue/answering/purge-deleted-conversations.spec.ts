import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { commandsOver } from '../../../test/support/commands-over.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../test/support/mortal-store.js';
import { turnSettings } from '../../../test/support/turn-settings.js';
import { cause, eventsOf } from '../../../test/support/turns.js';
import type { BlobRef } from '../../kernel/blobs.js';
import { BlobMissing } from '../../kernel/blobs.js';
import { decode, encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { newId } from '../../kernel/ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { Purges } from '../../work/retention/purges.js';
import { TruncatePurged } from '../../work/retention/truncate-purged.reaction.js';
import { conversationCodec } from '../conversation/conversation.codec.js';
import { type ConversationEvent, conversationStream } from '../conversation/conversation.events.js';
import { conversationPurges } from '../conversation/purge/conversation.purges.js';
import { PurgeableFacts } from '../conversation/purge/purgeable-conversation.policy.js';
import { PURGED_TURNS_BYTES_MAX, PurgeConversationHandler } from '../conversation/purge/purge.commands.js';
import { journalPurges } from '../journal/journal.purges.js';
import { messageStream } from '../journal/message.events.js';
import { continuationStream } from './continuations/continuation.events.js';
import { Continuations } from './continuations/continuations.js';
import { DropContinuationHandler } from './continuations/continuation.commands.js';
import { PurgeDeletedConversations } from './purge-deleted-conversations.js';
import { PurgeResearchHandler } from './research/research.commands.js';
import { NOTHING_USED } from './research/research.decider.js';
import { researchStream } from './research/research.events.js';
import { workflowRunHandlers } from './workflow-runs/run/workflow-run.commands.js';
import { researchIdOf, workflowRunIdOf, workflowRunStream } from './workflow-runs/run/workflow-run.events.js';

const conversationId = 'c1';
const stream = conversationStream(conversationId);
const clock = { now: () => new Date('2026-02-01T00:00:00Z') };
const parts = { answer: 'Secret.', thought: '', sources: [], toolCalls: [], structured: false };
const due = [{ id: conversationId, since: clock.now() }];
/** More turns than fit into one event, because their ids are long. */
const TURNS = 400;
const turnIdAt = (index: number) => `t${index}${'-'.repeat(500)}`;
const [FIRST, SECOND] = [turnIdAt(0), turnIdAt(1)];

let log: InMemoryEventStore;
let blobs: InMemoryBlobs;
let continuation: Readonly<{ blob: BlobRef; isOwn?: true }>;

const append = async (to: string, ...events: readonly Event[]) => {
  const last = (await eventsOf(log, to)).at(-1)?.revision ?? 'none';
  const stored = events.map(({ type, data }) => ({
    ...{ id: newId(), type, data: JSON.stringify(data) },
    metadata: encodeMetadata(cause),
  }));
  await log.append(to, last, stored);
};
const typesOf = async (of: string) => (await eventsOf(log, of)).map(({ type }) => type);

const turn = (turnId: string, index: number, agentType = 'classic'): readonly ConversationEvent[] => [
  {
    type: 'TurnAsked',
    data: {
      ...{ conversationId, turnId, index, question: 'Secret?', requestId: 'r' },
      settings: turnSettings({ agentType }),
    },
  },
  { type: 'TurnStopped', data: { conversationId, turnId, ...parts, usage: { promptTokens: 3, completionTokens: 1 } } },
  { type: 'TurnSealed', data: { conversationId, turnId, lastId: 1, frames: 2, sha256: 'ab' } },
];

beforeEach(async () => {
  log = new InMemoryEventStore({ now: clock.now });
  blobs = new InMemoryBlobs();
  const kept = await new Continuations(blobs).keep(FIRST, 'x'.repeat(100_000));
  continuation = kept as typeof continuation;
  const started: ConversationEvent = {
    type: 'ConversationStarted',
    data: {
      ...{ conversationId, ownerId: 'ann', agentId: 'a1', name: 'Secret?', visibility: 'listed' },
      ...{ sharedUsage: false, history: [] },
    },
  };
  const paused: ConversationEvent = {
    type: 'TurnPaused',
    data: {
      ...{ conversationId, turnId: FIRST, ...parts, calls: [], expiresAt: '2026-02-02T00:00:00Z', lastId: 0, modelId: 'm' },
      ...{ usage: { promptTokens: 2, completionTokens: 1 }, continuation },
    },
  };
  const [asked, ...ended] = turn(FIRST, 0, 'workflow');
  const others = Array.from({ length: TURNS }, (_, at) => turn(turnIdAt(at + 1), at + 1)).flat();
  await append(stream, started, asked!, paused, ...ended);
  for (let from = 0; from < others.length; from += 999) await append(stream, ...others.slice(from, from + 999));
  for (const turnId of [FIRST, SECOND]) await append(messageStream(turnId), { type: 'f', data: 1 }, { type: 'f', data: 2 });
  const workflowRunId = workflowRunIdOf(FIRST);
  const node = { workflowRunId, step: 1, nodeId: 'dig', attempt: 1, nodeType: 'agent', title: '' };
  const run = {
    ...{ workflowRunId, workflowId: 'w', version: 1, ownerId: 'ann', workflowOwnerId: 'ann', agentId: 'a1', tools: [] },
    ...{ origin: { kind: 'turn', conversationId, turnId: FIRST }, inputs: {}, history: null },
  };
  await append(workflowRunStream(workflowRunId), { type: 'WorkflowRunStarted', data: run }, { type: 'NodeStarted', data: node });
  const plan = { turnId: researchIdOf(workflowRunId, 1), steps: [], complexity: 'simple', used: NOTHING_USED };
  await append(researchStream(plan.turnId), { type: 'ResearchPlanned', data: plan });
});

const ruleOver = (store: EventStore, patienceMs?: number) => {
  const streams = new Streams(store, systemTiming, patienceMs);
  const commands = commandsOver(
    new PurgeConversationHandler(streams, clock),
    new DropContinuationHandler(streams),
    new PurgeResearchHandler(streams),
    ...workflowRunHandlers.map((Handler) => new Handler(streams, clock)),
  );
  return new PurgeDeletedConversations({} as ExpiringQueries, streams, new Continuations(blobs), commands);
};
const deleted = () => append(stream, { type: 'ConversationDeleted', data: { conversationId } });

/** Truncates the streams like the reaction does for each purge event. */
async function cutOff(): Promise<void> {
  const reaction = new TruncatePurged(log, blobs, new Purges([...conversationPurges, ...journalPurges]));
  for (const stored of await eventsOf(log, stream)) {
    const event = decode<ConversationEvent>(conversationCodec, stored) as Recorded<ConversationEvent>;
    await reaction.on[event.type]?.(event, new AbortController().signal);
  }
}

const expectPurged = async () => {
  const facts = (await eventsOf(log, stream)).filter(({ type }) => type.endsWith('Purged'));
  const [last, ...others] = facts.toReversed();
  expect([last!.type, ...new Set(others.map(({ type }) => type))]).toEqual(['ConversationPurged', 'TurnsPurged']);
  const stated = others.toReversed().flatMap(({ data }) => (JSON.parse(data) as { turns: { turnId: string }[] }).turns);
  expect(stated.map(({ turnId }) => turnId)).toEqual(Array.from({ length: TURNS + 1 }, (_, at) => turnIdAt(at)));
  expect(others.length).toBeGreaterThan(1);
  expect(others.every(({ data }) => Buffer.byteLength(data) < PURGED_TURNS_BYTES_MAX + 1_000)).toBe(true);
  expect(facts.some(({ data }) => data.includes('Secret'))).toBe(false);
  const workflowRunId = workflowRunIdOf(FIRST);
  expect((await typesOf(workflowRunStream(workflowRunId))).at(-1)).toBe('WorkflowRunPurged');
  expect((await typesOf(researchStream(researchIdOf(workflowRunId, 1)))).at(-1)).toBe('ResearchPurged');
  expect(await typesOf(continuationStream(FIRST))).toEqual(['ContinuationDropped']);
  await expect(blobs.get(continuation.blob.sha256)).rejects.toThrow(BlobMissing);
  await cutOff();
  expect(await typesOf(stream)).toEqual(facts.map(({ type }) => type));
  for (const turnId of [FIRST, SECOND]) expect(await typesOf(messageStream(turnId))).toEqual([]);
};

describe('a deleted conversation', () => {
  it('is purged once, with all data stored beside it', async () => {
    await deleted();
    const rule = ruleOver(log);
    await rule.purge(due, cause);
    const head = await log.head();
    await rule.purge(due, cause);
    expect(await log.head()).toBe(head);
    await expectPurged();
    await rule.purge(due, cause);
    expect(await log.head()).toBe(head);
  });

  it('is purged once by two concurrent processes', async () => {
    await deleted();
    await Promise.all(['one', 'other'].map((tick) => ruleOver(log).purge(due, { ...cause, causationId: tick })));
    await expectPurged();
  });

  it('is purged by later passes, at whichever append a process dies', async () => {
    await deleted();
    let deaths = 0;
    for (let isDead = true; isDead; deaths++) {
      const store = new MortalStore(log, 1);
      await ruleOver(store, 0)
        .purge(due, cause)
        .catch(() => undefined);
      isDead = store.isDead;
      await cutOff();
    }
    // Each death leaves one more event, so no event is appended twice.
    expect(deaths).toBeGreaterThan(6);
    await expectPurged();
  });

  it('is purged after an earlier version of the program recorded a group of another size and died', async () => {
    await deleted();
    const facts = new PurgeableFacts();
    for (const stored of await eventsOf(log, stream)) facts.add(decode<ConversationEvent>(conversationCodec, stored)!);
    const { kept, turns } = facts.found()!;
    const { ownerId, keptFrom } = kept;
    const data = { conversationId, ownerId, keptFrom, from: 0, turns: turns.slice(0, 7) };
    await append(stream, { type: 'TurnsPurged', data });
    await ruleOver(log).purge(due, cause);
    await expectPurged();
  });

  it.each([
    ['is not deleted', []],
    ['has a turn that is not sealed', [turn('late', TURNS + 1)[0]!]],
  ] as const)('is not purged while it %s', async (_, more) => {
    if (more.length > 0) {
      await append(stream, ...more);
      await deleted();
    }
    const head = await log.head();
    await ruleOver(log).purge(due, cause);
    expect(await log.head()).toBe(head);
  });
});
