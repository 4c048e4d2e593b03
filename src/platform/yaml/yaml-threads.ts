import { createRequire } from 'node:module';
import type * as WorkerThreads from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import type * as JsYaml from 'js-yaml';
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
    const worker = new Worker(`(${readOne.toString()})(require)`, {
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

/** The whole program of a thread, handed over as text: it can use nothing but its argument. */
function readOne(load: NodeJS.Require): void {
  const threads = load('node:worker_threads') as typeof WorkerThreads;
  const parent = threads.parentPort!;
  const { text, texts, nestingMax, yaml } = threads.workerData as {
    text: string;
    texts: { anchors: string; tags: string; documents: string };
    nestingMax: number;
    yaml: string;
  };
  const { parseEvents, constructFromEvents, CORE_SCHEMA, EVENT_ID } = load(yaml) as typeof JsYaml;
  parent.postMessage('ready');
  const refusal = (events: readonly JsYaml.Event[]): string | undefined => {
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
  };
  try {
    const events = parseEvents(text, { maxDepth: nestingMax });
    const refused = refusal(events);
    const values = refused === undefined ? constructFromEvents(events, { source: text, schema: CORE_SCHEMA }) : [];
    parent.postMessage(refused === undefined ? { value: values[0] } : { refused });
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    parent.postMessage({ refused: `Invalid YAML: ${line}` });
  }
}
