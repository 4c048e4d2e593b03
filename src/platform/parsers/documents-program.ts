import { answerQuestions } from '../guarded-process/answer-questions.js';
import { failureReply, type ParsingJob, type ParsingReply } from './parsing-messages.js';
import { ParsingThreads } from './parsing-threads.js';

const threads = new ParsingThreads();

answerQuestions(async (job: ParsingJob, signal): Promise<ParsingReply> => {
  // What came through the channel may share its memory, and memory that is shared cannot be handed to a thread.
  const bytes = new Uint8Array(job.file.bytes);
  return threads.ask({ ...job, file: { ...job.file, bytes } }, signal).catch(failureReply);
});
