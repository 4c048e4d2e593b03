import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DeviceEvent, deviceStream } from '../../src/resources/devices/device/device.events.js';
import {
  type InvocationEvent,
  type InvocationRequested,
  invocationStream,
} from '../../src/resources/devices/invocations/device-invocation.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { devices } from './devices.projection.js';
import { DeviceQueries, INVOCATIONS_SHOWN_MAX } from './devices.queries.js';

const AT = '2026-01-01T00:00:00.000Z';
const DEADLINE = '2026-01-01T00:00:35.000Z';
const [BEFORE, AFTER] = [new Date('2026-01-01T00:00:34.000Z'), new Date('2026-01-01T00:00:36.000Z')];

const paired = (deviceId: string, ownerId: string): DeviceEvent => ({
  type: 'DevicePaired',
  data: {
    deviceId,
    ownerId,
    name: `Name of ${deviceId}`,
    description: '',
    approvalMode: 'ask',
    machine: { hostname: '', os: '', arch: '', cliVersion: '' },
    machineKey: { publicKey: '', fingerprint: '' },
    tokenSha256: '',
    toolId: 't',
    pairedAt: AT,
  },
});
const requested = (invocationId: string, fields: Partial<InvocationRequested['data']> = {}): InvocationEvent => ({
  type: 'InvocationRequested',
  data: {
    invocationId,
    deviceId: 'd1',
    ownerId: 'alice',
    userId: 'alice',
    agentId: null,
    conversationId: 'c',
    turnId: 't',
    callId: 'c1',
    action: 'run_command',
    command: 'ls \0',
    commandSha256: 'aa',
    workingDirectory: '',
    timeoutMs: 30_000,
    approvalMode: 'ask',
    decisionReason: 'user_approval_required',
    approvedBy: 'user',
    issuedAt: AT,
    deadline: DEADLINE,
    ...fields,
  },
});
const handedOut = (invocationId: string): InvocationEvent => ({
  type: 'InvocationHandedOut',
  data: { invocationId, sessionId: 's', handedOutAt: AT },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: DeviceQueries;
const given = (id: string, ...events: InvocationEvent[]) => model.given(invocationStream(id), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(devices, database.sql);
  queries = new DeviceQueries(new ReadModels(database.sql));
  await model.given(deviceStream('d1'), [
    paired('d1', 'alice'),
    { type: 'DeviceChanged', data: { deviceId: 'd1', changes: { approvalMode: 'full' } } },
    { type: 'DeviceChanged', data: { deviceId: 'd1', changes: { name: 'New' } } },
  ]);
  await model.given(deviceStream('d2'), [paired('d2', 'bob')]);
});
afterAll(() => database.close());

describe('devices', () => {
  it('are found by their owner and their names', async () => {
    expect([await queries.ownedBy('alice'), await queries.ownedBy('bob')]).toEqual([['d1'], ['d2']]);
    const names = ['New', 'Name of d1', 'Name of d2'];
    expect(await Promise.all(names.map((name) => queries.hasName('alice', name)))).toEqual([true, false, false]);
  });

  it('have commands that wait until they are handed out, end or pass their deadline', async () => {
    await given('i1', requested('i1'));
    await given('i2', requested('i2'), handedOut('i2'));
    await given('i3', requested('i3', { deviceId: 'd2' }));
    await given('i4', requested('i4'), {
      type: 'InvocationExpired',
      data: { invocationId: 'i4', reason: 'stopped', expiredAt: AT },
    });
    expect(await queries.waitingFor('d1', BEFORE, 9)).toEqual(['i1']);
    expect(await queries.waitingFor('d1', AFTER, 9)).toEqual([]);
    expect((await queries.openOf('d1')).toSorted()).toEqual(['i1', 'i2']);
    const allowedMs = Date.parse(DEADLINE) - Date.parse(AT);
    const times = { deadline: new Date(DEADLINE), allowedMs };
    expect(await queries.open(9)).toEqual(['i1', 'i2', 'i3'].map((invocationId) => ({ invocationId, ...times })));
    expect(await queries.open(1)).toHaveLength(1);
  });

  it('show how each command ended', async () => {
    const ends: Record<string, InvocationEvent[]> = {
      finished: [
        {
          type: 'InvocationAcknowledged',
          data: { invocationId: 'finished', decision: 'accepted', reason: null, acknowledgedAt: AT },
        },
        ...[1, 2].map((part): InvocationEvent => ({
          type: 'InvocationOutputReceived',
          data: { invocationId: 'finished', outputKey: `k${part}`, keptBytes: 1, stdoutBytes: 10, stderrBytes: part },
        })),
        {
          type: 'InvocationFinished',
          data: {
            invocationId: 'finished',
            exitCode: 2,
            durationMs: 3_000_000_000,
            error: 'Nul\0',
            stdoutSha256: 'aa',
            stderrSha256: null,
            finishedAt: DEADLINE,
          },
        },
      ],
      denied: [
        {
          type: 'InvocationAcknowledged',
          data: { invocationId: 'denied', decision: 'denied', reason: null, acknowledgedAt: AT },
        },
      ],
      lost: [{ type: 'InvocationOutcomeUnknown', data: { invocationId: 'lost', reason: 'deadline', endedAt: DEADLINE } }],
    };
    for (const [id, events] of Object.entries(ends)) await given(id, requested(id), handedOut(id), ...events);
    const entries = new Map((await queries.auditOf('d1', 50)).map((entry) => [entry.invocationId, entry]));
    expect(entries.get('finished')).toMatchObject({
      command: 'ls \uFFFD',
      decision: 'accepted',
      startedAt: new Date(AT),
      finishedAt: new Date(DEADLINE),
      exitCode: 2,
      durationMs: 3_000_000_000,
      stdoutBytes: 20,
      stderrBytes: 3,
      error: 'Nul\uFFFD',
    });
    expect(entries.get('denied')).toMatchObject({
      decision: 'denied',
      error: 'denied',
      startedAt: null,
      finishedAt: new Date(AT),
    });
    expect(entries.get('lost')).toMatchObject({ decision: 'outcome_unknown', error: 'deadline', exitCode: null });
    expect(await queries.openOf('d1')).not.toEqual(expect.arrayContaining(Object.keys(ends)));
  });

  it('keep as many ended commands of each device as its audit shows, and the commands that have not ended', async () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 1, 1, 0, minute)).toISOString();
    const expired = (invocationId: string): InvocationEvent => ({
      type: 'InvocationExpired',
      data: { invocationId, reason: 'stopped', expiredAt: AT },
    });
    const count = INVOCATIONS_SHOWN_MAX + 5;
    const last = `k${count - 1}`;
    for (let n = 0; n < count; n++) {
      const id = `k${n}`;
      // The first stays open, and the third ends only when it is already too old to be shown.
      await given(id, requested(id, { deviceId: 'd3', issuedAt: at(n) }), ...(n === 0 || n === 2 ? [] : [expired(id)]));
    }
    const kept = async () => (await queries.auditOf('d3', 2 * INVOCATIONS_SHOWN_MAX)).map(({ invocationId }) => invocationId);
    const shown = Array.from({ length: INVOCATIONS_SHOWN_MAX }, (_, n) => `k${count - 1 - n}`);
    expect(shown[0]).toBe(last);
    expect(await kept()).toEqual([...shown, 'k2', 'k0']);
    await model.expectSameAfterRebuild();
    await given('k2', expired('k2'));
    expect(await kept()).toEqual([...shown, 'k0']);
    expect(await queries.openOf('d3')).toEqual(['k0']);
    await given('k0', expired('k0'));
    expect(await kept()).toEqual(shown);
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.auditOf('d1', 50);
    await model.again();
    expect(await queries.auditOf('d1', 50)).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});
