import { expect, it } from '@jest/globals';
import type { DeviceQueries } from '../../../../projections/devices/devices.queries.js';
import type { Commands } from '../../../kernel/commands.js';
import type { Timing } from '../../../kernel/timing.js';
import { systemIds } from '../../../platform/system-ids.js';
import type { GiveUpInvocation } from './device-invocation.commands.js';
import { EndInvocations } from './end-invocations.ticker.js';

it('ends each command that has been open for its time in front of this process', async () => {
  let elapsedMs = 0;
  const open = new Map([
    ['short', 6_000],
    ['long', 65_000],
    ['done', 6_000],
  ]);
  const queries = {
    open: async () => [...open].map(([invocationId, allowedMs]) => ({ invocationId, allowedMs })),
  } as unknown as DeviceQueries;
  const ended: [string, number][] = [];
  const commands = {
    execute: async ({ invocationId, reason }: GiveUpInvocation) => {
      expect(reason).toBe('deadline');
      open.delete(invocationId);
      ended.push([invocationId, elapsedMs]);
    },
  } as unknown as Commands;
  const ticker = new EndInvocations(queries, commands, systemIds, { elapsedMs: () => elapsedMs } as Timing);
  for (; elapsedMs <= 70_000; elapsedMs += ticker.everyMs) {
    if (elapsedMs === 5_000) open.delete('done');
    await ticker.tick();
  }
  expect(ended).toEqual([
    ['short', 6_000],
    ['long', 65_000],
  ]);
});
