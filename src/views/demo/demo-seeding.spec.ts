import { expect, it } from '@jest/globals';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { eventually } from '../../../test/support/eventually.js';
import { DemoSeeding, UNREADY_MS_MAX } from './demo-seeding.js';
import type { SeedDemo } from './seed-demo.js';

/** A demo whose attempts end as the test decides. */
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

it('a process is not ready until its demo exists', async () => {
  const { subject, nth } = seeding();
  expect(subject.impairment()).toBeUndefined();
  subject.start();
  expect(subject.impairment()).toEqual({ readiness: 'not_ready', reason: 'The demo agent is being made.' });
  (await nth(1)).succeed(true);
  expect(await subject.hasDemo).toBe(true);
  expect(subject.impairment()).toBeUndefined();
});

it('a process without a demo is ready', async () => {
  const { subject, nth } = seeding();
  subject.start();
  (await nth(1)).succeed(false);
  expect(await subject.hasDemo).toBe(false);
  expect(subject.impairment()).toBeUndefined();
});

it('a demo that cannot be created degrades the process with the reason, and is retried until it succeeds', async () => {
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

it('during an outage the process is not ready for a limited time and then degraded', async () => {
  const { subject, nth } = seeding();
  subject.start();
  const startedAt = performance.now();
  (await nth(1)).fail(new StoreUnavailable('The store is away.'));
  await nth(2);
  expect(subject.impairment()).toEqual({ readiness: 'not_ready', reason: 'The demo agent is being made. The store is away.' });
  expect(subject.impairment(startedAt + UNREADY_MS_MAX)?.readiness).toBe('degraded');
});

it('the seeding ends when the process stops, and a later failure of the attempt has no effect', async () => {
  const { subject, attempts, nth } = seeding();
  subject.start();
  const first = await nth(1);
  subject.stop();
  first.fail(new Error('The database is closed.'));
  expect(await subject.hasDemo).toBe(false);
  expect(subject.impairment()).toBeUndefined();
  expect(attempts).toHaveLength(1);
});
