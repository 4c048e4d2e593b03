import { expect, it } from '@jest/globals';
import type { DeviceQueries } from '../../../../projections/devices/devices.queries.js';
import { CLOCKS_APART_MS_MAX } from '../../../kernel/clocks-apart.js';
import type { Commands } from '../../../kernel/commands.js';
import type { Timing } from '../../../kernel/timing.js';
import { systemIds } from '../../../platform/system-ids.js';
import type { GiveUpInvocation } from './device-invocation.commands.js';
import { EndInvocations, WATCHED_MAX } from './end-invocations.ticker.js';

/** A ticker over open invocations, each with its time from 0 on. `ended` says when each was ended. */
function world(invocations: readonly (readonly [id: string, allowedMs: number])[]) {
  const open = new Map(invocations);
  const queries = {
    open: async (max: number) =>
      [...open].slice(0, max).map(([invocationId, allowedMs]) => ({ invocationId, allowedMs, deadline: new Date(allowedMs) })),
  } as unknown as DeviceQueries;
  const ended: [string, number][] = [];
  let elapsedMs = 0;
  const commands = {
    execute: async ({ invocationId, reason }: GiveUpInvocation) => {
      expect(reason).toBe('deadline');
      if (invocationId.startsWith('broken')) throw new Error('It cannot be read.');
      open.delete(invocationId);
      ended.push([invocationId, elapsedMs]);
    },
  } as unknown as Commands;
  const started = () => new EndInvocations(queries, commands, systemIds, { elapsedMs: () => elapsedMs } as Timing);
  let ticker = started();
  const tickUntil = async (ms: number) => {
    for (; elapsedMs < ms; elapsedMs += ticker.everyMs) await ticker.tick(new Date(elapsedMs)).catch(onFailure);
  };
  const failures: Error[] = [];
  const onFailure = (error: Error) => void failures.push(error);
  const restart = () => (ticker = started());
  return { open, ended, failures, tickUntil, restart };
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

it('ends a command whose deadline has passed by any clock, although each process ends before it has seen it for its time', async () => {
  const { ended, tickUntil, restart } = world([['long', 65_000]]);
  for (let ms = 20_000; ms <= CLOCKS_APART_MS_MAX + 80_000; ms += 20_000) {
    await tickUntil(ms);
    restart();
  }
  expect(ended).toEqual([['long', CLOCKS_APART_MS_MAX + 65_000]]);
});

it('watches WATCHED_MAX commands, and the others when these are over', async () => {
  const { ended, tickUntil } = world(Array.from({ length: WATCHED_MAX + 1 }, (_, index) => [`inv_${index}`, 6_000]));
  await tickUntil(7_000);
  expect(ended).toHaveLength(WATCHED_MAX);
  await tickUntil(14_000);
  expect(ended.at(-1)).toEqual([`inv_${WATCHED_MAX}`, 13_000]);
});

it('ends a command although WATCHED_MAX commands before it cannot be ended', async () => {
  const broken = Array.from({ length: WATCHED_MAX }, (_, index) => [`broken_${index}`, 6_000] as const);
  const { ended, failures, tickUntil } = world([...broken, ['sound', 6_000]]);
  await tickUntil(14_000);
  expect(ended).toEqual([['sound', 13_000]]);
  expect(failures[0]?.message).toMatch(`${WATCHED_MAX} of ${WATCHED_MAX} failed`);
});
