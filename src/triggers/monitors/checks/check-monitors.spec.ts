import { expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DueMonitor, MonitorQueries } from '../../../../projections/monitors/monitors.queries.js';
import { systemIds } from '../../../platform/system-ids.js';
import type { CheckMonitor } from './check-monitor.js';
import { CHECKS_AT_ONCE_MAX, CheckMonitors } from './check-monitors.ticker.js';

const NOW = new Date('2026-01-01T00:00:00Z');

/** A ticker over monitors that are due in this order. Their checks leave them due. */
function world(monitorIds: readonly string[], check: (monitorId: string) => Promise<void>) {
  const all = monitorIds.map((monitorId, place): DueMonitor => ({ monitorId, dueAt: new Date(place) }));
  const due = async (_now: Date, limit: number, after?: DueMonitor) =>
    all.filter(({ dueAt }) => !after || dueAt > after.dueAt).slice(0, limit);
  const checked: string[] = [];
  const checks = { check: (monitorId: string) => (checked.push(monitorId), check(monitorId)) } as unknown as CheckMonitor;
  const ticker = new CheckMonitors({ due } as unknown as MonitorQueries, checks, systemIds);
  const tick = async () => {
    checked.length = 0;
    await ticker.tick(NOW);
    await ticker.settled();
    return [...checked];
  };
  return { tick };
}

it('monitors that stay due, because their checks fail or the read model lags, do not keep the others from being checked', async () => {
  Logger.overrideLogger(false);
  const stuck = Array.from({ length: CHECKS_AT_ONCE_MAX }, (_, index) => `stuck ${index}`);
  const { tick } = world([...stuck, 'other'], (monitorId) =>
    monitorId === 'other' ? Promise.resolve() : Promise.reject(new Error('It cannot be read.')),
  );
  expect(await tick()).toEqual(stuck);
  expect(await tick()).toEqual(['other']);
  expect(await tick()).toEqual(stuck);
});

it('all monitors that are due are begun in one tick if there is room', async () => {
  const { tick } = world(['m1', 'm2'], () => Promise.resolve());
  expect(await tick()).toEqual(['m1', 'm2']);
  expect(await tick()).toEqual(['m1', 'm2']);
});
