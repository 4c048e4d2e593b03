import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { BroadcastChannel } from 'node:worker_threads';
import { textFile } from '../../../../test/support/document-files.js';
import { eventually } from '../../../../test/support/eventually.js';
import { PARSING_LIMITS } from '../limits.js';
import type { ParsingJob } from './parsing-messages.js';
import { ParsingThreads } from './parsing-threads.js';

let started = 0;
let channel: BroadcastChannel;
beforeEach(() => {
  started = 0;
  channel = new BroadcastChannel('threads that were started');
  channel.onmessage = () => started++;
});
afterEach(() => channel.close());

/** Threads that take this long until they are ready and to answer, and that say when they are started. */
function threads({ readyMs, answerMs, spareAfterMs }: Record<'readyMs' | 'answerMs' | 'spareAfterMs', number>): ParsingThreads {
  const program = `
    import { parentPort } from 'node:worker_threads';
    const channel = new BroadcastChannel('threads that were started');
    channel.postMessage('one');
    channel.unref();
    const say = (what, ms) => new Promise((resolve) => setTimeout(() => resolve(parentPort.postMessage(what)), ms));
    parentPort.on('message', () => say('ready', ${readyMs}).then(() => say({ sections: [] }, ${answerMs})));`;
  const entry = `data:text/javascript,${encodeURIComponent(program)}`;
  const options = { memoryMegabytesMax: 64, processMegabytesMax: 8_192, spareAfterMs, entry };
  return new ParsingThreads(options, () => undefined);
}

const job = (turnMs = 60_000): ParsingJob => ({
  file: textFile('a.txt', 'a'),
  limits: PARSING_LIMITS,
  turnMs,
  wanted: 'sections',
});
const never = new AbortController().signal;

it('a document that takes long starts a spare thread', async () => {
  const asked = threads({ readyMs: 0, answerMs: 200, spareAfterMs: 10 });
  await asked.ask(job(), never);
  await eventually(() => started === 2);
});

it('the time of a document begins when its thread has loaded what it needs', async () => {
  const asked = threads({ readyMs: 2_300, answerMs: 0, spareAfterMs: 10_000 });
  await expect(asked.ask(job(2_000), never)).resolves.toEqual({ sections: [] });
  const slow = threads({ readyMs: 0, answerMs: 60_000, spareAfterMs: 100_000 });
  await expect(slow.ask(job(50), never)).resolves.toEqual({ stopped: 'out-of-time' });
});

it('a thread that takes long to start has no spare', async () => {
  // On a busy machine, an answer may take a second.
  const asked = threads({ readyMs: 2_300, answerMs: 0, spareAfterMs: 2_000 });
  await asked.ask(job(), never);
  await asked.ask(job(), never);
  expect(started).toBe(1);
});
