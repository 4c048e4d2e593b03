import { answerQuestions } from '../sandbox/answer-questions.js';
import { type YamlBounds, YamlBusy, type YamlDeadlines, YamlRefused } from './yaml-documents.port.js';
import { YamlThreads } from './yaml-threads.js';

export type GuardedYamlOptions = Readonly<{ deadlines: YamlDeadlines; bounds: YamlBounds }>;
export type YamlAnswer = Readonly<{ value: unknown } | { refused: string } | { busy: string }>;

const { deadlines, bounds } = JSON.parse(process.argv[2]!) as GuardedYamlOptions;
const threads = new YamlThreads(deadlines, undefined, bounds);

answerQuestions(async (text: string): Promise<YamlAnswer> => {
  try {
    return { value: await threads.read(text) };
  } catch (error) {
    if (error instanceof YamlRefused) return { refused: error.message };
    if (error instanceof YamlBusy) return { busy: error.message };
    throw error;
  }
});
