import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { type MonitorEvent, monitorStream } from '../../../src/triggers/monitors/monitor/monitor.events.js';
import type { ReadModelUnderTest } from './read-model.subject.js';
import { at, date, about, created, checked } from './monitors.given.js';

type Queries = Pick<MonitorQueries, 'due'>;

/** The contract of the query for monitors that are due. */
export function dueMonitorsContract(setUp: () => Promise<ReadModelUnderTest<Queries>>): void {
  let state: ReadModelUnderTest<Queries>;
  let queries: Queries;
  const given = (id: string, ...events: MonitorEvent[]) => state.given(monitorStream(id), events);
  const due = async (time: string) => (await queries.due(date(time), 10)).map(({ monitorId }) => monitorId);

  beforeAll(async () => {
    state = await setUp();
    ({ queries } = state);
    await given('m1', created('m1'));
    await given('m2', created('m2', 'ann', 'c2', at('08:01')));
    await given('m3', created('m3', 'bob', 'c3'));
  });
  afterAll(() => state.close());

  it('are due for their checks, and during a check only once its claim has expired', async () => {
    expect(await due('08:14')).toEqual([]);
    expect(await due('08:15')).toEqual(['m1', 'm2', 'm3']);
    const [first] = await queries.due(date('08:15'), 1);
    expect((await queries.due(date('08:15'), 1, first)).map(({ monitorId }) => monitorId)).toEqual(['m2']);
    const claim = { monitorId: 'm1', check: 1, startedAt: at('08:15'), leaseUntil: at('08:18') };
    await given('m1', { type: 'MonitorCheckStarted', data: claim });
    expect([await due('08:17'), await due('08:18')]).toEqual([
      ['m2', 'm3'],
      ['m2', 'm3', 'm1'],
    ]);
  });

  it('are due for their next checks, and at once when they are resumed', async () => {
    await given('m1', checked('m1', 1, 'changed'));
    expect([await due('08:31'), await due('08:32')]).toEqual([
      ['m2', 'm3'],
      ['m2', 'm3', 'm1'],
    ]);
    await given('m1', {
      type: 'MonitorPaused',
      data: { ...about('m1'), pause: 1, reason: 'It is away.', pausedAt: at('08:20') },
    });
    await given('m1', { type: 'MonitorResumed', data: { ...about('m1'), resumedAt: at('08:10'), nextCheckAt: at('08:10') } });
    expect(await due('08:10')).toEqual(['m1']);
  });

  it('are due for their expiry while they are paused, and for nothing once they have ended', async () => {
    await given('m1', { type: 'MonitorPaused', data: { ...about('m1'), pause: 2, reason: null, pausedAt: at('08:20') } });
    expect([await due('19:59'), await due('20:00')]).toEqual([
      ['m2', 'm3'],
      ['m2', 'm3', 'm1'],
    ]);
    const completed = { ...about('m1'), reason: 'expired', isNews: false, completedAt: at('20:00') } as const;
    await given('m1', { type: 'MonitorCompleted', data: completed });
    await given('m2', { type: 'MonitorCancelled', data: { ...about('m2', 'ann', 'c2'), by: 'owner', cancelledAt: at('20:01') } });
    expect(await due('23:00')).toEqual(['m3']);
  });
}
