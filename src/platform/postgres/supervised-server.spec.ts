import { expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { VirtualTiming } from '../../../test/support/virtual-timing.js';
import { isDiskFull } from '../../kernel/full-disk.js';
import { BACK_OFF_FIRST_MS, BACK_OFF_MAX_MS } from '../supervision/back-off.js';
import { PostgresDidNotStart, reasonOf } from './postmaster.js';
import { type ServerRun, STEADY_MS, SupervisedServer } from './supervised-server.js';

const QUICK_ENDS = 40;

/** A server with a script. A number is the duration of a run, a text the reason of a failed start. Then it keeps running. */
class ScriptedServer {
  readonly timing = new VirtualTiming();
  starts = 0;
  stops = 0;
  onStart: () => void = () => undefined;

  constructor(private readonly script: readonly (number | string)[]) {}

  supervised(): SupervisedServer {
    return new SupervisedServer(this.run(), () => this.start(), this.timing);
  }

  /** The delays before the starts, without the durations of the runs. */
  get waits(): readonly number[] {
    return this.timing.pauses.filter((ms) => !this.script.includes(ms));
  }

  get isThrough(): boolean {
    return this.starts > this.script.length;
  }

  private run(): ServerRun {
    const lasts = this.script[this.starts++];
    let end!: () => void;
    const stopped = new Promise<void>((resolve) => (end = resolve));
    const ended = typeof lasts === 'number' ? this.timing.pause(lasts) : stopped;
    const stop = async () => {
      this.stops++;
      end();
    };
    return { exited: Promise.race([ended, stopped]).then(() => `It ended after ${lasts} ms.`), stop };
  }

  private async start(): Promise<ServerRun> {
    this.onStart();
    const next = this.script[this.starts];
    if (typeof next !== 'string') return this.run();
    this.starts++;
    throw new Error(next);
  }
}

const bounds = (attempt: number): [number, number] => {
  const ceiling = Math.min(BACK_OFF_MAX_MS, BACK_OFF_FIRST_MS * 2 ** (attempt - 1));
  return [ceiling / 2, ceiling];
};

function expectGrowing(waits: readonly number[]): void {
  for (const [index, waitMs] of waits.entries()) {
    const [least, most] = bounds(index + 1);
    expect(waitMs).toBeGreaterThanOrEqual(least);
    expect(waitMs).toBeLessThanOrEqual(most);
  }
}

it('restarts a server that ends quickly any number of times, with growing, bounded and random delays', async () => {
  const server = new ScriptedServer(Array.from({ length: QUICK_ENDS }, () => 7));
  const supervised = server.supervised();
  await eventually(() => server.isThrough);
  expect(server.waits).toHaveLength(QUICK_ENDS);
  expectGrowing(server.waits);
  expect(new Set(server.waits.slice(-10)).size).toBe(10);
  expect(supervised.outage).toBeUndefined();
  await supervised.stop();
});

it('counts a failed start as a quick end and reports the reason', async () => {
  const server = new ScriptedServer([7, ...Array.from({ length: QUICK_ENDS }, () => 'There is no space left.')]);
  const supervised = server.supervised();
  const outages: unknown[] = [];
  server.onStart = () => outages.push(supervised.outage);
  await eventually(() => server.isThrough);
  expect(outages[0]).toEqual({ reason: 'It ended after 7 ms.', quickEnds: 1 });
  expect(outages.at(-1)).toEqual({ reason: 'There is no space left.', quickEnds: QUICK_ENDS + 1 });
  expect(supervised.outage).toBeUndefined();
  expectGrowing(server.waits);
  await supervised.stop();
});

it('resets the count after a server has run steadily', async () => {
  const server = new ScriptedServer([7, 7, 7, 7, STEADY_MS, 7]);
  const supervised = server.supervised();
  await eventually(() => server.isThrough);
  expectGrowing(server.waits.slice(0, 4));
  expectGrowing(server.waits.slice(4));
  expect(server.waits).toHaveLength(6);
  await supervised.stop();
});

it('starts nothing after it was stopped, while the server runs or during a delay', async () => {
  const running = new ScriptedServer([]);
  const first = running.supervised();
  await first.stop();
  const ended = new ScriptedServer([7]);
  ended.timing.pause = (ms, signal) => (ms === 7 ? Promise.resolve() : untilAborted(signal!));
  const second = ended.supervised();
  await eventually(() => second.outage !== undefined);
  await second.stop();
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect([running.starts, running.stops, ended.starts]).toEqual([1, 1, 1]);
});

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

it('names the last reason of the server and no text of statements', () => {
  const log = `2026-01-01 [1] ERROR:  duplicate key: (name)=(a secret)
2026-01-01 [1] PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device
2026-01-01 [1] STATEMENT:  insert into secrets values ('x')
2026-01-01 [2] FATAL:  the database system is in recovery mode`;
  expect(reasonOf('It ended with code 1.', log)).toBe(
    'It ended with code 1. PANIC: could not write to file "pg_wal/xlogtemp.7": No space left on device',
  );
  expect(reasonOf('It ended with SIGKILL.', '')).toBe('It ended with SIGKILL.');
});

it('a failed start counts as a full disk only when the server reports no space', () => {
  const full = new PostgresDidNotStart('It did not start.', 'FATAL: could not write lock file: No space left on device');
  expect([isDiskFull(full), isDiskFull(new PostgresDidNotStart('It did not start.', 'FATAL: unknown setting'))]).toEqual([
    true,
    false,
  ]);
});
