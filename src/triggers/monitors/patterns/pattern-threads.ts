import { Worker } from 'node:worker_threads';
import { Patterns, PatternTooSlow } from './patterns.port.js';

/** Maximum number of concurrent threads; further calls wait. */
const THREADS_MAX = 2;
/** Maximum time to start a thread, even on a busy machine. The time for the pattern is measured separately. */
const START_MS_MAX = 30_000;
const PATTERN_MS_MAX = 1_000;
const MATCH_CHARACTERS_MAX = 500;
const MEMORY_MEGABYTES_MAX = 64;

/** Posts `ready` and then the matches. A leading `(?i)` makes the pattern case-insensitive, as in other regex dialects. */
const PROGRAM = `
const { parentPort, workerData: { pattern, text, max, charactersMax } } = require('node:worker_threads');
const anyCase = pattern.startsWith('(?i)');
parentPort.postMessage('ready');
try {
  const found = [];
  for (const [match] of text.matchAll(new RegExp(anyCase ? pattern.slice(4) : pattern, anyCase ? 'gim' : 'gm'))) {
    found.push(match.slice(0, charactersMax));
    if (found.length === max) break;
  }
  parentPort.postMessage({ found });
} catch (error) {
  parentPort.postMessage({ refused: String(error.message) });
}
`;

type Reply = Readonly<{ found: readonly string[] } | { refused: string }>;

/** Matches patterns in threads that are terminated at their deadline, so that backtracking does not block other work. */
export class PatternThreads extends Patterns {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly deadlineMs = PATTERN_MS_MAX) {
    super();
  }

  async matches(pattern: string, text: string, max: number): Promise<readonly string[]> {
    if (this.running >= THREADS_MAX) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.running++;
    try {
      const reply = await this.ask({ pattern, text, max, charactersMax: MATCH_CHARACTERS_MAX });
      if ('refused' in reply) throw new SyntaxError(reply.refused);
      return reply.found;
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }

  private async ask(workerData: object): Promise<Reply> {
    const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MEGABYTES_MAX };
    const worker = new Worker(PROGRAM, { eval: true, env: {}, execArgv: [], workerData, resourceLimits });
    let deadline: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Reply>((resolve, reject) => {
        const giveUpAfter = (ms: number) => {
          clearTimeout(deadline);
          deadline = setTimeout(() => reject(new PatternTooSlow(`The pattern did not finish within ${ms} ms.`)), ms);
        };
        giveUpAfter(START_MS_MAX);
        worker.on('message', (said: Reply | 'ready') => (said === 'ready' ? giveUpAfter(this.deadlineMs) : resolve(said)));
        // Emitted if the thread runs out of memory, for example.
        worker.on('error', (error) => reject(new PatternTooSlow('The pattern needs too much memory.', { cause: error })));
        worker.on('exit', () => reject(new PatternTooSlow('The pattern needs too much memory.')));
      });
    } finally {
      clearTimeout(deadline);
      await worker.terminate();
    }
  }
}
