import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { projections } from '../../projections/catalogue.js';
import type { ConversationQueries } from '../../projections/conversations/conversations.queries.js';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { type Frame, isTerminal, messageStream } from '../../src/dialogue/journal/message.events.js';
import { messageOf } from '../support/message.js';
import type { Identity } from '../../src/resources/identity/identity.js';
import { type Codec, decode, encodeMetadata } from '../../src/kernel/event-sourcing/codec.js';
import type { StoredEvent } from '../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { MessageAccess, RecentMessages } from '../../src/dialogue/journal/message-access.js';
import { idOf, userEventText } from '../../src/views/notifications/user-event.policy.js';
import { idempotencyKeys } from '../support/idempotency-keys.js';
import { InMemoryEventStore } from '../support/in-memory-event-store.js';
import { oncePerState } from '../support/once-per-state.js';
import type { StoredNotification } from './notified.js';
import { featureCodecs, problemsWith, readSamples, type Sample, STORED_AS_THEY_ARE } from './samples.js';
import { misshapen } from './shapes.js';

const root = process.cwd();
const inputs = ['src', 'projections', 'test/event-samples', 'tsconfig.json'].map((path) => join(root, path));
const samples = readSamples(import.meta.dirname);
const cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' } as const;

let features: Readonly<Record<string, Codec>>;
let codecs: Readonly<Record<string, Codec>>;

beforeAll(async () => {
  features = await featureCodecs();
  codecs = { ...features, ...STORED_AS_THEY_ARE };
});

const stored = ({ category, type, version, data }: Sample): StoredEvent => ({
  id: '00000000-0000-4000-8000-000000000000',
  stream: `${category}-1`,
  revision: 0,
  position: 0n,
  at: new Date(0),
  type,
  data: JSON.stringify(data),
  metadata: encodeMetadata(cause, version),
});

const FRAME_TYPES: Readonly<Record<Frame['type'], true>> = {
  message_id: true,
  answer: true,
  thought: true,
  notice: true,
  source: true,
  tool_call: true,
  tool_calls: true,
  tool_calls_pending: true,
  structured_answer: true,
  research_plan: true,
  research_progress: true,
  workflow_run: true,
  workflow_step: true,
  guardrail: true,
  error: true,
  id: true,
  end: true,
};

const USER_EVENT_TYPES: Readonly<Record<StoredNotification['type'], true>> = {
  'source.ingest.queued': true,
  'source.ingest.progress': true,
  'source.ingest.completed': true,
  'source.ingest.failed': true,
  'attachment.queued': true,
  'attachment.progress': true,
  'attachment.completed': true,
  'attachment.failed': true,
  'tool.approval.required': true,
  'tool.approval.cleared': true,
  'mcp.oauth.in_progress': true,
  'mcp.oauth.awaiting_redirect': true,
  'mcp.oauth.completed': true,
  'mcp.oauth.failed': true,
  'schedule.run.completed': true,
  'schedule.run.failed': true,
  'schedule.autopaused': true,
  'schedule.created': true,
  'schedule.changed': true,
  'schedule.deleted': true,
  'schedule.paused': true,
  'schedule.resumed': true,
  'schedule.completed': true,
  'schedule.cancelled': true,
  'job.updated': true,
  'schedule.message.appended': true,
  'conversation.continued': true,
  'monitor.updated': true,
  'conversation.mark': true,
  'team.member_added': true,
  'resource.shared': true,
};

const textsOf = (type: string): readonly string[] =>
  samples.filter((sample) => sample.type === type).map(({ data }) => JSON.stringify(data));

it('has a sample of every event type in each of its versions, and no others', () => {
  expect(problemsWith(samples, codecs)).toEqual([]);
});

it('decodes every sample to the current shape', async () => {
  const events = samples
    .filter(({ category }) => category in features)
    .map((sample) => {
      const { type, data } = decode(codecs[sample.category]!, stored(sample))!;
      return { label: sample.file, type, value: { type, data } };
    });
  const frames = samples
    .filter(({ category }) => category === 'message')
    .map(({ file, data }) => ({ label: file, type: 'Frame', value: data }));
  const userEvents = samples
    .filter(({ category }) => category === 'user')
    .map(({ file, data }) => ({ label: file, type: 'StoredNotification', value: data }));
  const check = async () => JSON.stringify(misshapen(root, [...events, ...frames, ...userEvents]));
  expect(JSON.parse(await oncePerState('event-samples', inputs, check))).toEqual([]);
});

it('decodes with the feature’s steps in every projection', () => {
  for (const { name, codec, on } of projections) {
    for (const type of Object.keys(on)) {
      const own = Object.values(features).find((feature) => type in feature);
      expect({ name, type, steps: codec[type] }).toEqual({ name, type, steps: own?.[type] });
    }
  }
});

describe('the journal', () => {
  it('has a sample of each type of frame', () => {
    const kept = samples.filter(({ category }) => category === 'message').map(({ data }) => data['type']);
    expect([...new Set(kept)].sort()).toEqual(Object.keys(FRAME_TYPES).sort());
  });

  it('adds up to the same message as when it was written', () => {
    const order = ['message_id', 'thought', 'answer', 'notice', 'source', 'tool_calls', 'id', 'end'];
    const texts = textsOf('FrameJournaled');
    const inOrder = order.map((type) => texts.find((text) => text.startsWith(`{"type":"${type}"`))!);
    const journaled = messageOf(inOrder);
    expect(journaled).toMatchObject({ last: 'end', error: null, notices: [expect.any(String)], requestId: expect.any(String) });
    expect(journaled.parts).toMatchObject({
      answer: expect.stringContaining('世界'),
      thought: expect.any(String),
      structured: false,
    });
    expect(journaled.parts.sources).toHaveLength(1);
    expect(journaled.parts.toolCalls).toHaveLength(1);
  });

  it('ends at the same frame', () => {
    const ends = textsOf('FrameJournaled').filter(isTerminal);
    expect(ends.map((text) => (JSON.parse(text) as { code?: string }).code ?? 'end').sort()).toEqual(['end', 'stopped']);
  });

  it('still names its owner', async () => {
    const { data, metadata } = samples.find(({ data }) => data['type'] === 'message_id')!;
    const began = samples.find(({ file }) => file === 'conversation/ConversationStarted.v1.json')!;
    const store = new InMemoryEventStore();
    const messageId = String(data['message_id']);
    const first = { id: 'e1', type: 'FrameJournaled', data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
    await store.append(messageStream(messageId), 'none', [first]);
    const conversationId = String(metadata!['conversationId']);
    await store.append(conversationStream(conversationId), 'none', [{ ...stored(began), id: 'e2' }]);
    const access = new MessageAccess(
      store,
      new Streams(store, systemTiming),
      {} as ConversationQueries,
      new RecentMessages(systemTiming),
    );
    const reader = (userId: string) =>
      ({ callerOrReader: () => Promise.resolve({ kind: 'user', userId }) }) as unknown as Identity;
    await expect(access.readable(messageId, reader('alice'))).resolves.toMatchObject({
      conversationId: metadata!['conversationId'],
    });
    await expect(access.readable(messageId, reader('mallory'))).rejects.toMatchObject({ code: 'message-not-found' });
  });
});

describe('a user event', () => {
  const told = samples.filter(({ category }) => category === 'user').map(({ data }) => data as unknown as StoredNotification);

  it('has a sample of each type', () => {
    expect([...new Set(told.map(({ type }) => type))].sort()).toEqual(Object.keys(USER_EVENT_TYPES).sort());
  });

  it('is still written byte for byte the same', () => {
    for (const event of told)
      expect(userEventText(event, event.user_id, idOf({ data: JSON.stringify(event) }))).toBe(JSON.stringify(event));
  });
});

it('finds what a key that was used under an older version has started', async () => {
  const { type, stream, data } = samples.find(({ category }) => category === 'idempotency')!;
  const store = new InMemoryEventStore();
  const used = { id: 'e1', type, data: JSON.stringify(data), metadata: encodeMetadata(cause) };
  await store.append(stream!, 'none', [used]);
  const key = { scope: 'answer', callerId: 'alice', key: 'once', fingerprint: String(data['fingerprint']), ttlMs: 60_000 };
  expect(await idempotencyKeys(new Streams(store, systemTiming)).use(key, {}, cause)).toEqual({
    used: 'again',
    value: data['value'],
  });
});

describe('a shipped shape', () => {
  const renamed = (data: { label: string }) => ({ name: data.label });
  const planted: Readonly<Record<string, Codec>> = { folder: { FolderCreated: [renamed], FolderDeleted: [] } };
  const sample = (type: string, version: number, file = `folder/${type}.v${version}.json`): Sample => ({
    category: 'folder',
    file,
    type,
    version,
    data: {},
  });
  const whole = [sample('FolderCreated', 1), sample('FolderCreated', 2), sample('FolderDeleted', 1)];

  it('needs a sample, even after a newer version', () => {
    expect(problemsWith(whole, planted)).toEqual([]);
    expect(problemsWith(whole.slice(1), planted)).toEqual(['there is no sample of folder/FolderCreated.v1']);
    expect(problemsWith(whole.slice(0, 1), planted)).toEqual([
      'there is no sample of folder/FolderCreated.v2',
      'there is no sample of folder/FolderDeleted.v1',
    ]);
  });

  it('must remain in the codec under its name', () => {
    const problems = (stray: Sample) => problemsWith([...whole, stray], planted);
    expect(problems(sample('FolderMoved', 1))).toEqual(['folder/FolderMoved.v1.json is of a type that no codec of folder knows']);
    expect(problems({ ...sample('FolderCreated', 1, 'shelf/FolderCreated.v1.json'), category: 'shelf' })).toEqual([
      'shelf/FolderCreated.v1.json is of a type that no codec of shelf knows',
    ]);
    expect(problems(sample('FolderDeleted', 2))).toEqual(['folder/FolderDeleted.v2.json is of a version that was never written']);
    expect(problems(sample('FolderDeleted', 1, 'folder/FolderGone.v1.json'))).toEqual([
      'folder/FolderGone.v1.json is not named after its type and version',
    ]);
  });

  it('is distinguished from one with a missing field, an additional one, or another type of value', () => {
    const opened = (data: unknown) => ({
      label: 'planted',
      type: 'ConversationRenamed',
      value: { type: 'ConversationRenamed', data },
    });
    const problems = misshapen(root, [
      opened({ conversationId: 'c1', name: 'New', by: 'owner' }),
      opened({ conversationId: 'c1', name: 'New' }),
      opened({ conversationId: 'c1', name: 'New', by: 'owner', at: 'noon' }),
      opened({ conversationId: 'c1', name: 'New', by: 'somebody' }),
      { label: 'unknown', type: 'ConversationPainted', value: {} },
    ]);
    expect(problems).toEqual([
      expect.stringMatching(/^planted: .*by/),
      expect.stringMatching(/^planted: .*at/),
      expect.stringMatching(/^planted: .*somebody/),
      expect.stringMatching(/^unknown: /),
    ]);
  });
});
