import { parentPort } from 'node:worker_threads';
import { chunksOf } from '../../sources/chunking.policy.js';
import { parseDocument } from './parse-document.js';
import { failureReply, type ParsingJob, type ParsingReply, type Ready } from './parsing-messages.js';
import { readAttachment } from './read-attachment.js';

async function answer(job: ParsingJob): Promise<ParsingReply> {
  try {
    const { file, limits } = job;
    if (job.wanted === 'attachment') return { attachment: await readAttachment(file, job.mimeType, limits) };
    const sections = await parseDocument(file, limits);
    return job.wanted === 'chunks' ? { chunks: chunksOf(sections, job.chunking) } : { sections };
  } catch (error) {
    return failureReply(error);
  }
}

parentPort?.on('message', (job: ParsingJob) => {
  void answer(job).then((reply) => parentPort?.postMessage(reply));
});
parentPort?.postMessage('ready' satisfies Ready);
