import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { systemTiming } from '../system-timing.js';
import { openLog } from '../telemetry/log.js';
import { BACK_OFF_FIRST_MS, BACK_OFF_MAX_MS, backOffMs } from './back-off.js';
import { isOutage } from './outage.js';
import { Pages } from './pages.js';
import { supervise } from './supervise.js';

const log = pino({ level: 'silent' });

describe('a supervised run', () => {
  it('is repeated after each failure and each end until it is aborted', async () => {
    const off = new AbortController();
    const failures: unknown[] = [];
    let runs = 0;
    const run = async () => {
      if (++runs === 4) off.abort();
      if (runs % 2 === 1) throw new Error(`failed ${runs}`);
    };
    await supervise(run, {
      name: 'test',
      signal: off.signal,
      log,
      timing: systemTiming,
      onFailure: (error) => failures.push((error as Error).message),
    });
    expect([runs, failures]).toEqual([4, ['failed 1', 'failed 3']]);
  });

  it('is logged once a minute while it fails in the same way', async () => {
    const off = new AbortController();
    const timing = new VirtualTiming();
    const lines: string[] = [];
    const repeated = openLog({ level: 'info', format: 'json', destination: { write: (line) => void lines.push(line) } });
    const run = async () => {
      if (timing.elapsedMs() > 3 * 60_000) off.abort();
      throw new Error(timing.elapsedMs() > 2.5 * 60_000 ? 'another' : 'the same');
    };
    await supervise(run, { name: 'test', signal: off.signal, log: repeated, timing });
    expect(lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message)).toEqual([
      ...Array<string>(3).fill('the same'),
      'another',
    ]);
  });

  it('ends at once when it is aborted during a pause', async () => {
    const off = new AbortController();
    const startedAt = performance.now();
    setTimeout(() => off.abort(), 10);
    await systemTiming.pause(60_000, off.signal);
    await systemTiming.pause(60_000, off.signal);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });
});

it('the delay after failures grows up to a bound and is random', () => {
  expect(backOffMs(1, { random: () => 0 })).toBe(BACK_OFF_FIRST_MS / 2);
  expect(backOffMs(2, { random: () => 1 })).toBe(2 * BACK_OFF_FIRST_MS);
  expect(backOffMs(1_000, { random: () => 1 })).toBe(BACK_OFF_MAX_MS);
  expect(backOffMs(1_000, { random: () => 0 })).toBe(BACK_OFF_MAX_MS / 2);
});

it.each<[string, unknown, boolean]>([
  ['an unavailable store', new StoreUnavailable('away'), true],
  ['an unavailable store as the cause', new Error('outer', { cause: new StoreUnavailable('away') }), true],
  ['a refused connection', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), true],
  ['a Unix socket with a full queue', Object.assign(new Error('x'), { code: 'EAGAIN', syscall: 'connect' }), true],
  ['a Unix socket that does not exist', Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'connect' }), true],
  ['a file that does not exist', Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' }), false],
  ['a file that would block', Object.assign(new Error('x'), { code: 'EAGAIN', syscall: 'read' }), false],
  ['a lost connection', Object.assign(new Error('x'), { code: 'CONNECTION_CLOSED' }), true],
  ['a server that shuts down', Object.assign(new Error('x'), { code: '57P01' }), true],
  ['a transaction of a process that was frozen', Object.assign(new Error('x'), { code: '25P03' }), true],
  ['a full disk', Object.assign(new Error('x'), { code: 'ENOSPC' }), true],
  ['a deadlock', Object.assign(new Error('x'), { code: '40P01' }), true],
  ['a violated constraint', Object.assign(new Error('x'), { code: '23505' }), false],
  ['a bad value', Object.assign(new Error('x'), { code: '22P02' }), false],
  ['a bug', new TypeError('x'), false],
  ['nothing', undefined, false],
])('distinguishes an outage from a fault: %s', (_what, error, expected) => {
  expect(isOutage(error)).toBe(expected);
});

describe('pages that are read ahead', () => {
  async function* source(log: string[], stop?: AbortSignal) {
    for (let n = 1; n <= 2; n++) {
      log.push(`made ${n}`);
      yield n;
    }
    if (stop) await systemTiming.pause(60_000, stop);
  }

  it('read the next page while the current one is handled, and end', async () => {
    const made: string[] = [];
    const pages = new Pages(source(made), () => undefined);
    expect(await pages.next()).toBe(1);
    await systemTiming.pause(1);
    expect(made).toEqual(['made 1', 'made 2']);
    expect([await pages.next(), await pages.next(), await pages.next()]).toEqual([2, undefined, undefined]);
  });

  it('report whether there is a next page, and stop a waiting source', async () => {
    const stop = new AbortController();
    const pages = new Pages(source([], stop.signal), () => stop.abort());
    expect(await pages.hasNextWithin(1_000, systemTiming)).toBe(true);
    await pages.next();
    await pages.next();
    expect(await pages.hasNextWithin(5, systemTiming)).toBe(false);
    await pages.close();
  });

  it('throw the error of the source when the page is requested', async () => {
    async function* broken() {
      yield 1;
      throw new Error('broken');
    }
    const pages = new Pages(broken(), () => undefined);
    expect(await pages.next()).toBe(1);
    await systemTiming.pause(1);
    await expect(pages.next()).rejects.toThrow('broken');
  });
});
