import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type MonitorEvent, monitorStream } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { dueMonitorsContract } from '../../test/contracts/read-models/monitors.contract.js';
import { inPostgres } from '../../test/contracts/read-models/read-model.subject.js';
import { ReadModels } from '../read-models.js';
import { monitors } from './monitors.projection.js';
import { MonitorQueries } from './monitors.queries.js';
import { at, date, about, created, checked } from '../../test/contracts/read-models/monitors.given.js';

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: MonitorQueries;
const given = (id: string, ...events: MonitorEvent[]) => model.given(monitorStream(id), events);
const listed = async (selection: 'active' | 'live' | 'all', conversationId?: string) => {
  const found = await queries.ofOwner('ann', { selection, limit: 200, ...(conversationId && { conversationId }) });
  return found.map(({ id }) => id);
};

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(monitors, database.sql);
  queries = new MonitorQueries(new ReadModels(database.sql));
  await given('m1', created('m1'));
  await given('m2', created('m2', 'ann', 'c2', at('08:01'), 'a1'));
  await given('m3', created('m3', 'bob', 'c3'));
});
afterAll(() => database.close());

describe('monitors', () => {
  it('are listed for their owner, of one conversation or of all, the newest first', async () => {
    expect(await listed('active')).toEqual(['m2', 'm1']);
    expect(await listed('active', 'c2')).toEqual(['m2']);
    expect(await listed('active', 'c3')).toEqual([]);
    expect((await queries.ofOwner('ann', { selection: 'all', limit: 1 })).map(({ id }) => id)).toEqual(['m2']);
    expect(await queries.liveOfConversation('c3')).toEqual(['m3']);
    expect(await queries.liveOfAgent('a1')).toEqual(['m2']);
    expect(await queries.byId('m1')).toMatchObject({
      definition: { description: 'Price\uFFFD', followUpsMax: 2 },
      nextCheckAt: date('08:15'),
      lastCheckedAt: date('08:00'),
      checkCount: 0,
    });
  });

  it('have the outcome of their checks', async () => {
    await given('m1', checked('m1', 1, 'unreachable'));
    expect(await queries.byId('m1')).toMatchObject({
      lastError: 'Away\uFFFD',
      lastChangedAt: null,
      checkCount: 1,
      nextCheckAt: date('08:32'),
    });
    const requested = { ...about('m1'), followUp: 1, text: 'Now 5', requestedAt: at('08:16') };
    await given('m1', checked('m1', 2, 'matched'), { type: 'MonitorFollowUpRequested', data: requested });
    expect(await queries.byId('m1')).toMatchObject({
      lastError: null,
      lastChangedAt: date('08:16'),
      lastFollowUpAt: date('08:16'),
      followUpCount: 1,
    });
    expect((await queries.activeOf('ann')).map(({ id }) => id)).toEqual(['m2', 'm1']);
  });

  it('have no next check while they are paused', async () => {
    const paused = { ...about('m1'), pause: 1, reason: 'It is away.', pausedAt: at('08:20') };
    await given('m1', { type: 'MonitorPaused', data: paused });
    expect(await queries.byId('m1')).toMatchObject({ status: 'paused', pausedReason: 'It is away.', nextCheckAt: null });
    expect([await listed('active'), await listed('live')]).toEqual([['m2'], ['m2', 'm1']]);
    expect(await queries.liveOf('ann')).toHaveLength(2);
    await given('m1', { type: 'MonitorResumed', data: { ...about('m1'), resumedAt: at('09:00'), nextCheckAt: at('09:00') } });
    expect(await queries.byId('m1')).toMatchObject({ status: 'active', pausedReason: null, nextCheckAt: date('09:00') });
  });

  it('are not live after they have completed or were cancelled', async () => {
    const ended = { ...about('m1'), reason: 'expired', isNews: false, completedAt: at('20:00') } as const;
    await given('m1', { type: 'MonitorCompleted', data: ended });
    await given('m2', {
      type: 'MonitorPaused',
      data: { ...about('m2', 'ann', 'c2'), pause: 1, reason: null, pausedAt: at('20:00') },
    });
    expect(await queries.liveOfAgent('a1')).toEqual(['m2']);
    await given('m2', { type: 'MonitorCancelled', data: { ...about('m2', 'ann', 'c2'), by: 'owner', cancelledAt: at('20:01') } });
    expect([await listed('live'), await listed('all')]).toEqual([[], ['m2', 'm1']]);
    expect(await queries.liveOfAgent('a1')).toEqual([]);
    expect([await queries.overOf('ann', date('08:01')), await queries.overOf('bob', date('00:00'))]).toEqual([['m2'], []]);
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.byId('m1');
    await model.again();
    expect(await queries.byId('m1')).toEqual(before);
    await model.expectSameAfterRebuild();
  });
});

describe('monitors that are due', () =>
  dueMonitorsContract(() => inPostgres(monitors, (readModels) => new MonitorQueries(readModels))));
