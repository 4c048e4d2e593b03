import { spawnSync } from 'node:child_process';
import { parentPort } from 'node:worker_threads';
import type { ParsingJob, ParsingReply, Ready } from '../../src/resources/documents/parsing/parsing-messages.js';

/** How parsing a test document misbehaves. Any other text is parsed as one section. */
export type ScriptedDocument = 'endless' | 'stuck' | 'greedy' | 'hoarding' | 'deadly';

const HOARDED_BYTES = 32 * 1024 * 1024;
/** A bound, so that an unattended test cannot exhaust the machine's memory. */
const HOARDED_MAX = 64;
/** Longer than any test. */
const STUCK_SECONDS = 600;

const greedily = (): never => {
  for (const kept: unknown[] = []; ;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
};
/** Allocates memory outside a thread's heap, and keeps it. */
const hoard = (): never => {
  for (const kept: Buffer[] = []; ;) if (kept.length < HOARDED_MAX) kept.push(Buffer.alloc(HOARDED_BYTES, 1));
};
/** A synchronous call that does not return. Only the end of the process ends it. */
const stuck = () => spawnSync('sleep', [String(STUCK_SECONDS)], { env: { PATH: '/usr/bin:/bin' } });

parentPort?.on('message', ({ file }: ParsingJob) => {
  parentPort?.postMessage('ready' satisfies Ready);
  const text = new TextDecoder().decode(file.bytes);
  if (text === 'endless') for (;;);
  if (text === 'stuck') stuck();
  if (text === 'greedy') greedily();
  if (text === 'hoarding') hoard();
  if (text === 'deadly') process.kill(process.pid, 'SIGKILL');
  parentPort?.postMessage({ sections: [{ title: file.filename, text }] } satisfies ParsingReply);
});
