import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { OWN_THREAD, threadTimeMs } from '../thread-time.js';
import { type YamlBounds, YamlBusy, type YamlDeadlines, YamlDocuments, YamlRefused } from './yaml-documents.port.js';
import { cutText } from '../../kernel/cut-text.js';

/** Maximum number of threads. Further texts wait. */
const THREADS_MAX = 2;
const WAITING_MAX = 50;
/** How long a thread may take to start, also on a busy machine. The time of a text starts afterwards. */
const START_MS_MAX = 30_000;
/** Maximum CPU time of a text. Other load of the machine does not count. */
const TEXT_MS_MAX = 5_000;
/** Maximum elapsed time. A text that has not used its CPU time by then is not refused; its sender gets YamlBusy. */
const BUSY_MS_MAX = 60_000;
const PROBLEM_CHARACTERS_MAX = 300;

export const ANCHORS_REFUSED = 'YAML anchors/aliases are not allowed';
export const TAGS_REFUSED = 'YAML tags and directives are not allowed';
export const DOCUMENTS_REFUSED = 'The text must hold one YAML document';
export const TOO_MUCH_MEMORY = 'Invalid YAML: reading it takes too much memory';

/**
 * The program of a thread. It sends `ready` and then the result. It is written as a string, because a bundler would make a
 * function refer to helpers of the bundle, which a thread does not have.
 */
const PROGRAM = `
const { parentPort, workerData: { text, texts, nestingMax, aliasesMax, yaml } } = require('node:worker_threads');
const { load, parseEvents, constructFromEvents, CORE_SCHEMA, EVENT_ID } = require(yaml);
parentPort.postMessage({ thread: ${OWN_THREAD} });
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
function read() {
  if (aliasesMax > 0) return { value: load(text, { maxDepth: nestingMax, maxAliases: aliasesMax }) };
  const events = parseEvents(text, { maxDepth: nestingMax });
  const refused = refusal(events);
  return refused === undefined ? { value: constructFromEvents(events, { source: text, schema: CORE_SCHEMA })[0] } : { refused };
}
try {
  parentPort.postMessage(read());
} catch (error) {
  parentPort.postMessage({ refused: 'Invalid YAML: ' + String(error.message).split('\\n', 1)[0] });
}
`;

type Reply = Readonly<{ value: unknown } | { refused: string }>;
type Ready = Readonly<{ thread: string }>;

const PLAIN: YamlBounds = { nestingMax: 50, aliasesMax: 0, memoryMegabytesMax: 128 };

/**
 * Parses YAML in threads that are stopped at their deadline, so that no text blocks other work. Their limit of memory holds only
 * for texts far below it: V8 may abort the whole process when a large text exceeds it (`GuardedYaml`).
 */
export class YamlThreads extends YamlDocuments {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(
    private readonly deadlines: YamlDeadlines = { textMs: TEXT_MS_MAX, busyMs: BUSY_MS_MAX },
    private readonly timeOf: (thread: string) => number | undefined = threadTimeMs,
    private readonly bounds: YamlBounds = PLAIN,
  ) {
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
      if ('refused' in reply) throw new YamlRefused(cutText(reply.refused, PROBLEM_CHARACTERS_MAX));
      return reply.value;
    } finally {
      this.running--;
      this.waiting.shift()?.();
    }
  }

  private async ask(text: string): Promise<Reply> {
    const texts = { anchors: ANCHORS_REFUSED, tags: TAGS_REFUSED, documents: DOCUMENTS_REFUSED };
    const { nestingMax, aliasesMax, memoryMegabytesMax } = this.bounds;
    const yaml = createRequire(import.meta.url).resolve('js-yaml');
    const workerData = { text, texts, nestingMax, aliasesMax, yaml };
    const resourceLimits = { maxOldGenerationSizeMb: memoryMegabytesMax };
    const worker = new Worker(PROGRAM, {
      eval: true,
      env: {},
      execArgv: [],
      workerData,
      resourceLimits,
    });
    const deadline = new Deadline();
    try {
      return await new Promise<Reply>((resolve, reject) => {
        const busy = () => reject(new YamlBusy('The machine is too busy to read this text now. Please try again.'));
        deadline.after(START_MS_MAX, busy);
        worker.on('message', (said: Reply | Ready) => {
          if ('thread' in said) this.watch(said, deadline, resolve, busy);
          else resolve(said);
        });
        const tooMuch: Reply = { refused: TOO_MUCH_MEMORY };
        // A thread that runs out of memory emits this event.
        worker.on('error', () => resolve(tooMuch));
        worker.on('exit', () => resolve(tooMuch));
      });
    } finally {
      deadline.cancel();
      await worker.terminate();
    }
  }

  /** Enforces the deadlines. Where the system does not report CPU time, elapsed time counts. */
  private watch({ thread }: Ready, deadline: Deadline, resolve: (reply: Reply) => void, busy: () => void): void {
    const { textMs, busyMs } = this.deadlines;
    const [before, begun] = [this.timeOf(thread), performance.now()];
    const check = () => {
      const waited = performance.now() - begun;
      const now = this.timeOf(thread);
      const used = before === undefined || now === undefined ? waited : now - before;
      if (used >= textMs) resolve({ refused: `Invalid YAML: reading it takes longer than ${textMs} ms` });
      else if (waited >= busyMs) busy();
      else deadline.after(Math.min(textMs - used, busyMs - waited), check);
    };
    deadline.after(textMs, check);
  }
}

/** A single timer. */
class Deadline {
  private timer: NodeJS.Timeout | undefined;

  after(ms: number, act: () => void): void {
    this.cancel();
    this.timer = setTimeout(act, Math.ceil(ms));
  }

  cancel(): void {
    clearTimeout(this.timer);
  }
}
