import { expect, it } from '@jest/globals';
import type { DeviceQueries } from '../../../../projections/devices/devices.queries.js';
import type { Commands } from '../../../kernel/commands.js';
import type { Timing } from '../../../kernel/timing.js';
import { systemIds } from '../../../platform/system-ids.js';
import type { GiveUpInvocation } from './device-invocation.commands.js';
import { EndInvocations, WATCHED_MAX } from './end-invocations.ticker.js';

/** A ticker over open invocations, each with its time. `ended` says when each was ended. */
function world(invocations: readonly (readonly [id: string, allowedMs: number])[]) {
  const open = new Map(invocations);
  const queries = {
    open: async (max: number) => [...open].slice(0, max).map(([invocationId, allowedMs]) => ({ invocationId, allowedMs })),
  } as unknown as DeviceQueries;
  const ended: [string, number][] = [];
  let elapsedMs = 0;
  const commands = {
    execute: async ({ invocationId, reason }: GiveUpInvocation) => {
      expect(reason).toBe('deadline');
      open.delete(invocationId);
      ended.push([invocationId, elapsedMs]);
    },
  } as unknown as Commands;
  const ticker = new EndInvocations(queries, commands, systemIds, { elapsedMs: () => elapsedMs } as Timing);
  const tickUntil = async (ms: number) => {
    for (; elapsedMs < ms; elapsedMs += ticker.everyMs) await ticker.tick();
  };
  return { open, ended, tickUntil };
}

it('ends each command that has been open for its time in front of this process', async () => {
  const { open, ended, tickUntil } = world([
    ['short', 6_000],
    ['long', 65_000],
    ['done', 6_000],
  ]);
  await tickUntil(5_000);
  open.delete('done');
  await tickUntil(70_000);
  expect(ended).toEqual([
    ['short', 6_000],
    ['long', 65_000],
  ]);
});

it('watches WATCHED_MAX commands, and the others when these are over', async () => {
  const { ended, tickUntil } = world(Array.from({ length: WATCHED_MAX + 1 }, (_, index) => [`inv_${index}`, 6_000]));
  await tickUntil(7_000);
  expect(ended).toHaveLength(WATCHED_MAX);
  await tickUntil(14_000);
  expect(ended.at(-1)).toEqual([`inv_${WATCHED_MAX}`, 13_000]);
});
