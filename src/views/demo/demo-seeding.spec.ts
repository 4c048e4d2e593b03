import { expect, it } from '@jest/globals';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { eventually } from '../../../test/support/eventually.js';
import { DemoSeeding, UNREADY_MS_MAX } from './demo-seeding.js';
import type { SeedDemo } from './seed-demo.js';

/** A demo whose every attempt ends as it is told to. */
function seeding() {
  const attempts: { succeed(hasDemo: boolean): void; fail(error: Error): void }[] = [];
  const demo: Pick<SeedDemo, 'seed'> = {
    seed: () => new Promise<boolean>((succeed, fail) => attempts.push({ succeed, fail })),
  };
  const subject = new DemoSeeding(demo as SeedDemo);
  const nth = async (n: number) => {
    await eventually(() => attempts.length === n);
    return attempts[n - 1]!;
  };
  return { subject, attempts, nth };
}

it('a process is not ready before its demo is there, and ready from then on', async () => {
  const { subject, nth } = seeding();
  expect(subject.impairment()).toBeUndefined();
  subject.start();
  expect(subject.impairment()).toEqual({ readiness: 'not_ready', reason: 'The demo agent is being made.' });
  (await nth(1)).succeed(true);
  expect(await subject.hasDemo).toBe(true);
  expect(subject.impairment()).toBeUndefined();
});

it('a process that is to have no demo is ready', async () => {
  const { subject, nth } = seeding();
  subject.start();
  (await nth(1)).succeed(false);
  expect(await subject.hasDemo).toBe(false);
  expect(subject.impairment()).toBeUndefined();
});

it('a demo that cannot be made degrades the process, says why, and is tried again until it is there', async () => {
  const { subject, nth } = seeding();
  subject.start();
  (await nth(1)).fail(new Error('There are no documents.'));
  const second = await nth(2);
  const reason = 'The demo agent is not there yet, and is tried again. There are no documents.';
  expect(subject.impairment()).toEqual({ readiness: 'degraded', reason });
  second.fail(new Error('Still none.'));
  (await nth(3)).succeed(true);
  expect(await subject.hasDemo).toBe(true);
  expect(subject.impairment()).toBeUndefined();
});

it('an outage leaves it unready while its demo may still come, but not for ever', async () => {
  const { subject, nth } = seeding();
  subject.start();
  const startedAt = performance.now();
  (await nth(1)).fail(new StoreUnavailable('The store is away.'));
  await nth(2);
  expect(subject.impairment()).toEqual({ readiness: 'not_ready', reason: 'The demo agent is being made. The store is away.' });
  expect(subject.impairment(startedAt + UNREADY_MS_MAX)?.readiness).toBe('degraded');
});

it('is given up when the process ends, and what it was doing may fail', async () => {
  const { subject, attempts, nth } = seeding();
  subject.start();
  const first = await nth(1);
  subject.stop();
  first.fail(new Error('The database is closed.'));
  expect(await subject.hasDemo).toBe(false);
  expect(subject.impairment()).toBeUndefined();
  expect(attempts).toHaveLength(1);
});
