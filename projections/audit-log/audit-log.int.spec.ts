import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { Seeded } from '../../test/support/seeded.js';
import { ReadModels } from '../read-models.js';
import { auditLog } from './audit-log.projection.js';
import { type AuditFilter, AuditLogQueries, BEFORE_ALL, POSITION_MAX } from './audit-log.queries.js';

let database: TestDatabase;
let queries: AuditLogQueries;
let read: Awaited<ReturnType<typeof projecting>>;
beforeAll(async () => {
  database = await testDatabase();
  queries = new AuditLogQueries(new ReadModels(database.sql));
});
afterAll(() => database.close());

const happened = (type: string, data: unknown = {}) => ({ type, data: data as object });
const at = (time: string) => new Date(`2026-03-01T${time}:00Z`);

beforeEach(async () => {
  read = await projecting(auditLog, database.sql);
  await read.given('agent-1', [happened('AgentCreated', { name: 'A "b" \u0000 é' }), happened('AgentChanged')], {
    at: at('10:00'),
    cause: { actor: 'user:ann', correlationId: 'request-1', causationId: 'request-1' },
  });
  await read.given('agent-2', [happened('AgentCreated')], {
    at: at('11:00'),
    cause: { actor: 'user:bob', correlationId: 'request-2', causationId: 'request-2' },
  });
  await read.given('message-1', [happened('answer')]);
  await read.given('task-1', [happened('TaskQueued')], {
    at: at('12:00'),
    cause: { actor: 'system:ingest', credential: 'system', correlationId: 'request-1', causationId: 'event' },
  });
});

const listed = async (filter: AuditFilter, after = -1n, limit = 10) =>
  (await queries.page(await queries.located(filter), after, limit)).events.map(({ stream, revision }) => `${stream}@${revision}`);

describe('the audit log', () => {
  it('has every event except frames once, with its cause and its original bytes', async () => {
    await read.again();
    expect(await listed({})).toEqual(['agent-1@0', 'agent-1@1', 'agent-2@0', 'task-1@0']);
    expect((await queries.page({}, -1n, 1)).events[0]).toMatchObject({
      type: 'AgentCreated',
      at: at('10:00'),
      actor: 'user:ann',
      credential: 'session-token',
      correlationId: 'request-1',
      causationId: 'request-1',
      data: JSON.stringify({ name: 'A "b" \u0000 é' }),
    });
    await read.expectSameAfterRebuild();
  });

  it.each<[AuditFilter, string[]]>([
    [{ visibleActors: ['user:bob'] }, ['agent-2@0']],
    [{ visibleActors: ['user:bob'], actor: 'user:ann' }, []],
    [{ actor: 'user:ann' }, ['agent-1@0', 'agent-1@1']],
    [{ stream: 'agent-2' }, ['agent-2@0']],
    [{ type: 'AgentCreated' }, ['agent-1@0', 'agent-2@0']],
    [{ correlationId: 'request-1' }, ['agent-1@0', 'agent-1@1', 'task-1@0']],
    [{ from: at('11:00') }, ['agent-2@0', 'task-1@0']],
    [{ to: at('11:00') }, ['agent-1@0', 'agent-1@1']],
    [{ from: at('11:00'), to: at('12:00'), type: 'AgentCreated' }, ['agent-2@0']],
  ])('finds %j', async (filter, expected) => {
    expect(await listed(filter)).toEqual(expected);
  });

  it('finds the events between two times, and the first and the last of them, although clocks are days apart', async () => {
    const seeded = new Seeded(1);
    const hoursLater = (hours: number) => new Date(at('00:00').getTime() + 3_600_000 * hours);
    for (let n = 0; n < 40; n++)
      await read.given(`note-${n}`, [happened('NoteWritten')], { at: hoursLater(4 * n + seeded.between(-50, 50)) });
    const { events } = await queries.page({}, -1n, 100);
    const bounds = [new Date(0), ...events.map((event) => event.at), new Date('2030-01-01')];
    for (const from of bounds) {
      const to = bounds[seeded.between(0, bounds.length - 1)]!;
      const [since, before] = [events.filter((event) => event.at >= from), events.filter((event) => event.at < to)];
      const filter = await queries.located({ from, to });
      expect([filter.first, filter.last]).toEqual([
        String(since[0]?.position ?? POSITION_MAX),
        String(before.at(-1)?.position ?? BEFORE_ALL),
      ]);
      expect((await queries.page(filter, -1n, 100)).events).toEqual(since.filter((event) => event.at < to));
    }
  });

  it('knows the owners of access tokens, including revoked ones', async () => {
    const made = (tokenId: string, ownerId: string) => happened('AccessTokenCreated', { tokenId, ownerId });
    await read.given('accessTokens-1', [made('t1', 'ann'), made('t2', 'ann'), happened('AccessTokenRevoked', { tokenId: 't1' })]);
    await read.given('accessTokens-2', [made('t3', 'bob')]);
    expect((await queries.actorsOf('user:ann')).toSorted()).toEqual(['access-token:t1', 'access-token:t2', 'user:ann']);
    await read.expectSameAfterRebuild();
  });

  it('knows the owners of devices', async () => {
    await read.given('device-d1', [happened('DevicePaired', { deviceId: 'd1', ownerId: 'cleo' })]);
    expect((await queries.actorsOf('user:cleo')).toSorted()).toEqual(['device:d1', 'user:cleo']);
    await read.expectSameAfterRebuild();
  });

  it('knows the owners of links whose readers asked, also after the conversation of a reader is purged', async () => {
    const cause = { actor: 'link:l1', credential: 'link' } as const;
    const began = (conversationId: string, ownerId: string) => happened('ConversationStarted', { conversationId, ownerId });
    await read.given('conversation-c1', [began('c1', 'ella')], { cause });
    await read.given('conversation-c2', [began('c2', 'ella')], { cause });
    await read.given('conversation-c3', [began('c3', 'fay')], { cause: { actor: 'user:fay' } });
    const purged = { conversationId: 'c1', ownerId: 'ella', keptFrom: 1, started: { actor: 'link:l1' } };
    await read.given('conversation-c1', [happened('ConversationPurged', purged)]);
    expect((await queries.actorsOf('user:ella')).toSorted()).toEqual(['link:l1', 'user:ella']);
    expect(await queries.actorsOf('user:fay')).toEqual(['user:fay']);
    await read.expectSameAfterRebuild();
    await read.expectSameAfterRebuild(({ stream, revision }) => stream !== 'conversation-c1' || revision === 1);
  });

  it('knows the owners of webhooks', async () => {
    await read.given('agent-h1', [happened('AgentCreated', { agentId: 'h1', ownerId: 'dora' })]);
    expect((await queries.actorsOf('user:dora')).toSorted()).toEqual(['user:dora', 'webhook:h1']);
  });

  it('is read in pages by position', async () => {
    const {
      events: [first, second],
      next,
    } = await queries.page({}, -1n, 2);
    expect(first!.position < second!.position).toBe(true);
    expect(next).toBe(second!.position);
    expect(await listed({}, second!.position, 1)).toEqual(['agent-2@0']);
  });

  it('is read in pages that end early if the data is large, up to the last one', async () => {
    const large = { text: 'x'.repeat(900_000) };
    for (let each = 0; each < 5; each++) await read.given(`note-${each}`, [happened('NoteWritten', large)]);
    const lengths: number[] = [];
    for (let after: bigint | undefined = -1n; after !== undefined;) {
      const { events, next } = await queries.page({ type: 'NoteWritten' }, after, 4);
      lengths.push(events.length);
      after = next;
    }
    expect(lengths).toEqual([2, 2, 1]);
    const { events, next } = await queries.page({ stream: 'note-3' }, -1n, 1);
    expect([events.length, events[0]!.data.length, next]).toEqual([1, JSON.stringify(large).length, undefined]);
    expect(await queries.page({ stream: 'nothing' }, -1n, 1)).toEqual({ events: [], next: undefined });
  });

  it('shows a chain in the order of the log, with the data of some types only', async () => {
    const chain = await queries.chain('request-1', 10, ['AgentChanged']);
    expect(chain.map(({ type, data }) => [type, data])).toEqual([
      ['AgentCreated', ''],
      ['AgentChanged', '{}'],
      ['TaskQueued', ''],
    ]);
    expect(await queries.chain('request-1', 2, [])).toHaveLength(2);
  });

  it('finds the correlation of an event id and of a correlation id, and none for an unknown id', async () => {
    const [event] = (await queries.page({ stream: 'task-1' }, -1n, 1)).events;
    expect(await queries.correlationOf(event!.id)).toBe('request-1');
    expect(await queries.correlationOf('request-2')).toBe('request-2');
    expect(await queries.correlationOf('request-3')).toBeUndefined();
  });
});

describe('a purge', () => {
  const stream = 'run-1';
  const delivery = { stream: 'delivery-k', revision: 1 };
  beforeEach(async () => {
    await read.given('delivery-k', [happened('DeliveryAccepted', { n: 1 }), happened('DeliveryAccepted', { n: 2 })]);
    await read.given(stream, [happened('RunQueued', { input: 'secret' }), happened('RunFinished', { answer: 'secret' })]);
    await read.given('idempotency-answer-1', [happened('IdempotencyKeyUsed')]);
    await read.given(stream, [happened('RunPurged', { runId: '1', delivery })]);
  });

  it('leaves only its own event of the stream, and the events of other streams', async () => {
    expect(await listed({ stream })).toEqual(['run-1@2']);
    expect(await listed({ stream: 'delivery-k' })).toEqual(['delivery-k@0']);
    expect(await listed({ stream: 'idempotency-answer-1' })).toEqual([]);
    expect(await listed({ stream: 'agent-1' })).toHaveLength(2);
  });

  it('of follow-ups leaves those that have not expired', async () => {
    await read.given('followUps-c', [
      happened('FollowUpRequested'),
      happened('FollowUpDelivered'),
      happened('FollowUpRequested'),
    ]);
    await read.given('expiredFollowUps-c', [happened('FollowUpsExpired', { conversationId: 'c', from: 0, before: 2 })]);
    expect(await listed({ stream: 'followUps-c' })).toEqual(['followUps-c@2']);
    await read.expectSameAfterRebuild((event) => event.stream !== 'followUps-c' || event.revision === 2);
  });

  it('has the same result whether the purged events are still in the log or not', async () => {
    await read.again();
    await read.expectSameAfterRebuild();
    await read.expectSameAfterRebuild((event) => event.stream !== stream || event.type === 'RunPurged');
    await read.expectSameAfterRebuild((event) => event.stream !== 'delivery-k' || event.revision !== 1);
  });
});
