import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { YamlBusy, YamlDocuments, YamlRefused } from './yaml-documents.port.js';

/** Threads at once; other texts wait. */
const THREADS_MAX = 2;
const WAITING_MAX = 50;
/** A thread is there by then, also on a machine that is busy; a text's own time begins after. */
const START_MS_MAX = 30_000;
const TEXT_MS_MAX = 5_000;
const MEMORY_MEGABYTES_MAX = 128;
const NESTING_MAX = 50;
const PROBLEM_CHARACTERS_MAX = 300;

export const ANCHORS_REFUSED = 'YAML anchors/aliases are not allowed';
export const TAGS_REFUSED = 'YAML tags and directives are not allowed';
export const DOCUMENTS_REFUSED = 'The text must hold one YAML document';

/**
 * It says that it is there, and then what the text says. It is text itself: what a bundler makes of a function refers to helpers
 * of the bundle, which a thread does not have.
 */
const PROGRAM = `
const { parentPort, workerData: { text, texts, nestingMax, yaml } } = require('node:worker_threads');
const { parseEvents, constructFromEvents, CORE_SCHEMA, EVENT_ID } = require(yaml);
parentPort.postMessage('ready');
function refusal(events) {
  let documents = 0;
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) {
      documents++;
      if (event.directives.length > 0) return texts.tags;
    } else if (event.type === EVENT_ID.ALIAS) return texts.anchors;
    else if (event.type !== EVENT_ID.POP) {
      if (event.anchorStart >= 0) return texts.anchors;
      if (event.tagStart >= 0) return texts.tags;
    }
  }
  return documents > 1 ? texts.documents : undefined;
}
try {
  const events = parseEvents(text, { maxDepth: nestingMax });
  const refused = refusal(events);
  parentPort.postMessage(refused === undefined ? { value: constructFromEvents(events, { source: text, schema: CORE_SCHEMA })[0] } : { refused });
} catch (error) {
  parentPort.postMessage({ refused: 'Invalid YAML: ' + String(error.message).split('\\n', 1)[0] });
}
`;

type Reply = Readonly<{ value: unknown } | { refused: string }>;

/** Reads YAML in threads of their own, which are stopped at their deadline: no text holds up other work. */
export class YamlThreads extends YamlDocuments {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly deadlineMs = TEXT_MS_MAX) {
    super();
  }

  async read(text: string): Promise<unknown> {
    if (this.running >= THREADS_MAX) {
      if (this.waiting.length >= WAITING_MAX) throw new YamlBusy('Too many texts are being read. Please try again.');
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    this.running++;
    try {
      const reply = await this.ask(text);
      if ('refused' in reply) throw new YamlRefused(reply.refused.slice(0, PROBLEM_CHARACTERS_MAX));
      return reply.value;
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }

  private async ask(text: string): Promise<Reply> {
    const texts = { anchors: ANCHORS_REFUSED, tags: TAGS_REFUSED, documents: DOCUMENTS_REFUSED };
    const workerData = { text, texts, nestingMax: NESTING_MAX, yaml: createRequire(import.meta.url).resolve('js-yaml') };
    const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MEGABYTES_MAX };
    const worker = new Worker(PROGRAM, {
      eval: true,
      env: {},
      execArgv: [],
      workerData,
      resourceLimits,
    });
    let deadline: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Reply>((resolve) => {
        const giveUpAfter = (ms: number) => {
          clearTimeout(deadline);
          deadline = setTimeout(() => resolve({ refused: `Invalid YAML: reading it takes longer than ${ms} ms` }), ms);
        };
        giveUpAfter(START_MS_MAX);
        worker.on('message', (said: Reply | 'ready') => (said === 'ready' ? giveUpAfter(this.deadlineMs) : resolve(said)));
        const tooMuch: Reply = { refused: 'Invalid YAML: reading it takes too much memory' };
        // A thread says so when it runs out of memory.
        worker.on('error', () => resolve(tooMuch));
        worker.on('exit', () => resolve(tooMuch));
      });
    } finally {
      clearTimeout(deadline);
      await worker.terminate();
    }
  }
}
