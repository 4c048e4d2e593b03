import { parentPort } from 'node:worker_threads';
import { chunksOf } from '../chunking.policy.js';
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

parentPort?.on('message', (job: ParsingJob) => {
  void answer(job).then((reply) => parentPort?.postMessage(reply));
});
parentPort?.postMessage('ready' satisfies Ready);
