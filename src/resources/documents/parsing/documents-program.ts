import { answerQuestions, endAtOnce } from '../../../platform/sandbox/answer-questions.js';
import { failureReply, type ParsingJob, type ParsingReply } from './parsing-messages.js';
import { ParsingThreads, type ParsingThreadsOptions } from './parsing-threads.js';

let isSpent = false;
const threads = new ParsingThreads(JSON.parse(process.argv[2]!) as ParsingThreadsOptions, () => {
  isSpent = true;
});

answerQuestions(
  async (job: ParsingJob, signal): Promise<ParsingReply> => {
    // Bytes from the channel may be a view of a shared buffer, which cannot be transferred to a thread. So they are copied.
    const bytes = new Uint8Array(job.file.bytes);
    return threads.ask({ ...job, file: { ...job.file, bytes } }, signal).catch(failureReply);
  },
  () => {
    if (isSpent) endAtOnce();
  },
);
