import { parentPort } from 'node:worker_threads';
import { chunksOf } from '../chunking.policy.js';
import { loadLibrariesFor } from './libraries.js';
import { parseDocument } from './parse-document.js';
import { failureReply, type ParsingJob, type ParsingReply, type Ready } from './parsing-messages.js';
import { readAttachment } from './read-attachment.js';
import { tooMuch } from '../refusals.js';

async function answer(job: ParsingJob): Promise<ParsingReply> {
  const { file, limits } = job;
  try {
    if (job.wanted === 'attachment') return { attachment: await readAttachment(file, job.mimeType, limits) };
    const sections = await parseDocument(file, limits);
    return job.wanted === 'chunks' ? { chunks: chunksOf(sections, job.chunking) } : { sections };
  } catch (error) {
    return failureReply(error instanceof RangeError ? tooMuch(file.filename) : error);
  }
}

async function work(job: ParsingJob): Promise<void> {
  // What fails here fails again below, and is answered there.
  await loadLibrariesFor(job).catch(() => undefined);
  parentPort?.postMessage('ready' satisfies Ready);
  parentPort?.postMessage(await answer(job));
}

parentPort?.on('message', (job: ParsingJob) => void work(job));
