import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { table } from './table.js';

/** A number with its target and a baseline that was measured in turns with it in the same run. */
export type Figure = Readonly<{
  name: string;
  value: number;
  unit: string;
  baseline?: Readonly<{ name: string; value: number }>;
  target?: Readonly<{ atMost: number } | { atLeast: number }>;
}>;

export type Report = Readonly<{ figures: readonly Figure[]; notes?: readonly string[] }>;

export type BenchContext = Readonly<{
  /** The compiled service to start. It may be another build than the present one. */
  service: string;
  /** The folder for CPU profiles of the service. If unset, none are taken, because they cost speed. */
  profileTo?: string;
  say: (line: string) => void;
}>;

/** A bench is a file `<name>.bench.ts` that exports `bench`. */
export type Bench = Readonly<{
  name: string;
  title: string;
  run: (context: BenchContext) => Promise<Report>;
}>;

/** The value below which the given share of all values lies. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)]!;
  return below + (sorted[Math.ceil(place)]! - below) * (place % 1);
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/**
 * Measures every subject once per round, each round in another order, so that other work of the machine affects all of them
 * equally. The numbers of a subject are in the order of rounds.
 */
export async function interleaved<Name extends string>(
  rounds: number,
  subjects: Readonly<Record<Name, (round: number) => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(subjects) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length]!;
      measured[name].push(await subjects[name](round));
    }
  }
  return measured;
}

/**
 * How long programs are loaded, together, before they are measured. In the first half minute of load V8 optimises about 1,400
 * functions of the service, which takes up to a half of the processor time. A service that has run longer no longer pays for that.
 */
export const WARM_UP_SECONDS = 60;

/** Runs the subjects in turns, as they are measured later, until they are warm. */
export async function warmUp(
  subjects: Readonly<Record<string, (round: number) => Promise<number>>>,
  seconds = WARM_UP_SECONDS,
): Promise<void> {
  for (const since = performance.now(); performance.now() - since < seconds * 1000;) await interleaved(1, subjects);
}

/** The ratio of the two medians. */
export const ratioOf = (values: readonly number[], baseline: readonly number[]): number => median(values) / median(baseline);

const isMet = ({ value, target }: Figure): boolean | undefined =>
  target && ('atMost' in target ? value <= target.atMost : value >= target.atLeast);

/** Prints a report as a table and stores it as JSON. */
export async function publish(bench: Bench, report: Report, since: Date, directory: URL): Promise<void> {
  const { figures, notes = [] } = report;
  console.log(`\n${bench.title}\n${table(figures.map(rowOf), COLUMNS)}`);
  for (const note of notes) console.log(`  ${note}`);
  const kept: Kept = {
    bench: bench.name,
    title: bench.title,
    at: since.toISOString(),
    seconds: Math.round((Date.now() - since.getTime()) / 1000),
    machine: machine(),
    figures: figures.map((figure) => ({ ...figure, value: rounded(figure.value), met: isMet(figure) })),
    notes,
  };
  await writeJson(new URL(`${bench.name}.json`, directory), kept);
}

type Kept = Readonly<{
  bench: string;
  title: string;
  at: string;
  seconds: number;
  machine: object;
  figures: object[];
  notes: readonly string[];
}>;

const machine = () => ({
  cpus: cpus().length,
  model: cpus()[0]?.model,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  loadAverage: loadavg().map(rounded),
});

/** Writes the reports made since a moment into one file. A failed bench is named. */
export async function publishRun(names: readonly string[], since: Date, results: URL, directory: URL): Promise<void> {
  const commit = execFileSync('git', ['describe', '--always', '--dirty', '--abbrev=10'], { encoding: 'utf8' }).trim();
  const read = (name: string) => readFile(new URL(`${name}.json`, results), 'utf8').then((text) => JSON.parse(text) as Kept);
  const found = await Promise.all(names.map((name) => read(name).catch(() => undefined)));
  const made = found.filter((kept) => kept !== undefined && Date.parse(kept.at) >= since.getTime());
  const failed = names.filter((name) => !made.some((kept) => kept?.bench === name));
  const at = since.toISOString();
  await writeJson(new URL(`${at.slice(0, 10)}-${commit}.json`, directory), {
    at,
    commit,
    machine: machine(),
    failed,
    benches: made,
  });
}

async function writeJson(file: URL, value: unknown): Promise<void> {
  await mkdir(new URL('./', file), { recursive: true });
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

const COLUMNS = ['', 'measured', 'baseline', 'ratio', 'target', ''] as const;

function rowOf(figure: Figure): string[] {
  const { name, value, unit, baseline, target } = figure;
  const met = isMet(figure);
  return [
    name,
    `${rounded(value)} ${unit}`,
    baseline ? `${rounded(baseline.value)} ${unit} (${baseline.name})` : '',
    baseline ? `${rounded(value / baseline.value)}×` : '',
    target ? ('atMost' in target ? `≤ ${target.atMost}` : `≥ ${target.atLeast}`) : '',
    met === undefined ? '' : met ? 'met' : 'MISSED',
  ];
}

/** Rounds to the significant digits. */
function rounded(value: number): number {
  if (!Number.isFinite(value)) return value;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number(value.toFixed(digits));
}
