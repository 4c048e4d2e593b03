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

/** Threads that take this long to start and to answer, and that say when they are started. */
function threads({ startMs, answerMs, spareAfterMs }: Record<'startMs' | 'answerMs' | 'spareAfterMs', number>): ParsingThreads {
  const program = `
    import { parentPort } from 'node:worker_threads';
    const channel = new BroadcastChannel('threads that were started');
    channel.postMessage('one');
    channel.unref();
    parentPort.on('message', () => setTimeout(() => parentPort.postMessage({ sections: [] }), ${answerMs}));
    setTimeout(() => parentPort.postMessage('ready'), ${startMs});`;
  const entry = `data:text/javascript,${encodeURIComponent(program)}`;
  const options = { memoryMegabytesMax: 64, processMegabytesMax: 8_192, spareAfterMs, entry };
  return new ParsingThreads(options, () => undefined);
}

const job = (): ParsingJob => ({ file: textFile('a.txt', 'a'), limits: PARSING_LIMITS, turnMs: 60_000, wanted: 'sections' });
const never = new AbortController().signal;

it('a document that takes long starts a spare thread', async () => {
  const asked = threads({ startMs: 0, answerMs: 200, spareAfterMs: 10 });
  await asked.ask(job(), never);
  await eventually(() => started === 2);
});

it('a thread that takes long to start has no spare', async () => {
  // On a busy machine, an answer may take a second.
  const asked = threads({ startMs: 2_300, answerMs: 0, spareAfterMs: 2_000 });
  await asked.ask(job(), never);
  await asked.ask(job(), never);
  expect(started).toBe(1);
});
