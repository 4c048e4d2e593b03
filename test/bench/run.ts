import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { leaveAnswersUnheld } from '../support/held-to-reference.js';
import { type Bench, publish, publishRun } from './report.js';

/** A bench that takes longer is ended, together with what it started. */
const BENCH_MS_MAX = 900_000;
const HERE = new URL('./', import.meta.url);
const RESULTS = new URL('results/', HERE);

/**
 * `npm run bench [-- name …]`: runs all benches or those named, one after another, each in a separate process. `--service
 * <main.js>` measures another build. `--profile-to <folder>` stores CPU profiles of the service. `--out <folder>` writes the
 * figures of all benches into one file there, named by day and commit.
 */
const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    service: { type: 'string', default: fileURLToPath(new URL('../../dist/program/main.js', HERE)) },
    'profile-to': { type: 'string' },
    out: { type: 'string' },
    'in-this-process': { type: 'boolean', default: false },
  },
});

if (options['in-this-process']) await runHere(wanted[0]!);
else await runAll();

async function runAll(): Promise<void> {
  const all = readdirSync(HERE)
    .filter((file) => file.endsWith('.bench.ts'))
    .map((file) => basename(file, '.bench.ts'))
    .sort();
  const unknown = wanted.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`There is no bench ${unknown.join(', ')}; there are ${all.join(', ')}.`);
  const since = new Date();
  const names = wanted.length > 0 ? wanted : all;
  for (const name of names) {
    const child = spawn(
      process.execPath,
      [...process.execArgv, fileURLToPath(import.meta.url), name, '--in-this-process', ...process.argv.slice(2).filter(isOption)],
      { stdio: 'inherit' },
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) process.exitCode = 1;
  }
  if (options.out !== undefined) await publishRun(names, since, RESULTS, pathToFileURL(`${resolve(options.out)}/`));
}

/** Options are forwarded to each bench. Names are not. */
function isOption(argument: string): boolean {
  return !wanted.includes(argument);
}

async function runHere(name: string): Promise<void> {
  leaveAnswersUnheld();
  const since = new Date();
  const tooLong = setTimeout(() => {
    console.error(`${name} took longer than ${BENCH_MS_MAX} ms.`);
    process.exit(1);
  }, BENCH_MS_MAX);
  const { bench } = (await import(new URL(`${name}.bench.ts`, HERE).href)) as { bench?: Bench };
  // A file without a `bench` measures and prints by itself.
  if (!bench) return clearTimeout(tooLong);
  const profileTo = options['profile-to'];
  const report = await bench.run({
    service: resolve(options.service),
    ...(profileTo !== undefined && { profileTo: resolve(profileTo) }),
    say: (line) => console.error(`  ${name}: ${line}`),
  });
  await publish(bench, report, since, RESULTS);
  clearTimeout(tooLong);
}
