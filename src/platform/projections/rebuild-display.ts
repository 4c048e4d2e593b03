import { Presets, SingleBar } from 'cli-progress';
import type { Timing } from '../../kernel/timing.js';
import type { RebuildOutcome, RebuildProgress } from './rebuild.js';

const LINE_EVERY_MS = 2_000;

/** Shows the progress of a rebuild: a bar on a terminal, occasional lines elsewhere, nothing if only the outcome is wanted. */
export class RebuildDisplay {
  private bar: SingleBar | undefined;
  private readonly startedAt: number;
  private displayedAt: number;
  private firstPosition: bigint | undefined;

  constructor(
    private readonly style: 'bar' | 'lines' | 'silent',
    private readonly name: string,
    private readonly timing: Timing,
  ) {
    this.startedAt = this.displayedAt = timing.elapsedMs();
  }

  show(progress: RebuildProgress): void {
    this.firstPosition ??= progress.position;
    if (this.style === 'bar') this.showBar(progress);
    if (this.style === 'lines') this.showLine(progress);
  }

  end(): void {
    this.bar?.stop();
    this.bar = undefined;
  }

  private showBar({ phase, position, target, events }: RebuildProgress): void {
    const payload = { name: this.name, phase, events, ...this.pace(position, target, events) };
    if (!this.bar) {
      const format = '{name} {bar} {percentage}% | {phase} | {events} events, {rate}/s, {left} left';
      this.bar = new SingleBar({ format, hideCursor: true, clearOnComplete: false }, Presets.shades_classic);
      this.bar.start(Number(target) + 1, Number(position) + 1, payload);
    }
    this.bar.setTotal(Number(target) + 1);
    this.bar.update(Number(position) + 1, payload);
  }

  private showLine({ phase, position, target, events }: RebuildProgress): void {
    const now = this.timing.elapsedMs();
    if (now - this.displayedAt < LINE_EVERY_MS) return;
    this.displayedAt = now;
    const { rate, left } = this.pace(position, target, events);
    const percentage = target < 0n ? 100 : Math.floor((Number(position + 1n) / Number(target + 1n)) * 100);
    process.stdout.write(`${this.name}: ${phase}, ${percentage} %, ${events} events, ${rate}/s, ${left} left\n`);
  }

  /**
   * The rate in events per second, and the remaining time, estimated by positions because the number of remaining events is
   * unknown.
   */
  private pace(position: bigint, target: bigint, events: number): { rate: number; left: string } {
    const seconds = (this.timing.elapsedMs() - this.startedAt) / 1000;
    const done = Number(position - this.firstPosition!);
    const left = position >= target ? '0 s' : done > 0 ? `${Math.ceil((Number(target - position) / done) * seconds)} s` : '?';
    return { rate: Math.round(events / seconds), left };
  }
}

/** The outcome of a rebuild as text for people. */
export function* outcomeLines(outcome: RebuildOutcome): Iterable<string> {
  const { projection, events, seconds, resumedAt, comparison, parked, swapped } = outcome;
  const rate = Math.round(events / seconds);
  const resumed = resumedAt === undefined ? '' : `, resumed after position ${resumedAt}`;
  yield `${projection}: ${events} events in ${seconds.toFixed(1)} s (${rate}/s)${resumed}; ${swapped ? 'in place' : 'nothing was changed'}.`;
  if (comparison && !comparison.difference) {
    const rows = comparison.live.map(({ table, rows: count }) => `${table} ${count}`).join(', ');
    yield `  At position ${comparison.position} the live rows were the same: ${rows}.`;
  } else if (comparison?.difference) {
    const { table, key, live, rebuilt } = comparison.difference;
    yield `  At position ${comparison.position} the live rows differed, first in ${table} at ${JSON.stringify(key)}:`;
    yield `    live:    ${JSON.stringify(live)}`;
    yield `    rebuilt: ${JSON.stringify(rebuilt)}`;
    if (comparison.lateFor !== undefined) {
      yield `    The live rows have yet to reach position ${comparison.lateFor}, and may include events that were purged since. Start the service, and verify again.`;
    }
  } else {
    yield '  There were no live rows of this version to compare with.';
  }
  for (const { entity, held, error } of parked) yield `  Parked: ${entity}, ${held} events held: ${error}`;
}

/**
 * What a verification found out. `unknown`: there was nothing to compare with, or what differs may only be late, because the live
 * rows include events that were purged since.
 */
export function verdictOf({ comparison }: RebuildOutcome): 'same' | 'differs' | 'unknown' {
  if (!comparison || comparison.lateFor !== undefined) return 'unknown';
  return comparison.difference ? 'differs' : 'same';
}

/** The outcome of a rebuild as JSON for programs. */
export const outcomeJson = (outcome: RebuildOutcome): string =>
  JSON.stringify(outcome, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
