import { createRequire } from 'node:module';
import type * as WorkerThreads from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import type * as Jinja from '@huggingface/jinja';
import { TemplateEngine, TemplateFailed } from './template-engine.port.js';
import { needsTooMuchMemory, tooManyTemplates } from './template-failures.js';
import type { TemplateLimits } from './template-limits.js';

const ERROR_CHARACTERS_MAX = 300;
const TOO_LARGE = 'too large';

type Job = Readonly<{
  template: string;
  context: object;
  resolve: (text: string) => void;
  reject: (error: TemplateFailed) => void;
}>;

type Reply = Readonly<{ text: string } | { error: string } | { died: Error }>;

/** A thread, and who is to hear its next word, which may be its last. */
type Slot = { worker: Worker; hear: (reply: Reply) => void };

/**
 * Renders Jinja templates of users. The language has loops without an end and lists without a bound, so each template runs
 * in a thread that is stopped when its time or its memory is used up.
 */
export class TemplateThreads extends TemplateEngine {
  private readonly idle: Slot[] = [];
  private readonly waiting: Job[] = [];
  private slots = 0;

  constructor(private readonly limits: TemplateLimits) {
    super();
  }

  render(template: string, context: object): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= this.limits.waitingMax) {
        reject(tooManyTemplates());
        return;
      }
      this.waiting.push({ template, context, resolve, reject });
      this.next();
    });
  }

  private next(): void {
    for (let slot; this.waiting.length > 0 && (slot = this.idle.pop());) this.run(slot, this.waiting.shift()!);
    if (this.waiting.length > 0 && this.slots < this.limits.workersMax) this.start();
  }

  private run(slot: Slot, { template, context, resolve, reject }: Job): void {
    const { deadlineMs } = this.limits;
    const deadline = setTimeout(() => {
      this.discard(slot);
      reject(new TemplateFailed('out-of-time', `The prompt template took longer than ${deadlineMs} ms.`));
      this.next();
    }, deadlineMs);
    slot.hear = (reply) => {
      clearTimeout(deadline);
      if ('text' in reply) resolve(reply.text);
      else reject(this.failureOf(reply));
      if ('died' in reply) this.discard(slot);
      else this.rest(slot);
      this.next();
    };
    slot.worker.ref();
    slot.worker.postMessage({ template, context });
  }

  /** A thread that has nothing to do does not keep the process. */
  private rest(slot: Slot): void {
    this.idle.push(slot);
    slot.worker.unref();
    slot.hear = () => {
      this.idle.splice(this.idle.indexOf(slot), 1);
      this.discard(slot);
    };
  }

  private failureOf(reply: Exclude<Reply, { text: string }>): TemplateFailed {
    if ('died' in reply) return needsTooMuchMemory();
    const { outputCharactersMax } = this.limits;
    if (reply.error === TOO_LARGE) {
      return new TemplateFailed('too-large', `The prompt template wrote more than ${outputCharactersMax} characters.`);
    }
    return new TemplateFailed('invalid', `The prompt template is not valid: ${reply.error.slice(0, ERROR_CHARACTERS_MAX)}`);
  }

  /** The deadline of a template is not to pay for the start of its thread, so a thread says when it is ready. */
  private start(): void {
    this.slots++;
    const { outputCharactersMax, workerHeapMb } = this.limits;
    const worker = new Worker(`(${renderOnRequest.toString()})(require)`, {
      eval: true,
      workerData: {
        engine: createRequire(import.meta.url).resolve('@huggingface/jinja'),
        outputCharactersMax,
        tooLarge: TOO_LARGE,
      },
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: workerHeapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    const slot: Slot = {
      worker,
      hear: (reply) => {
        if ('died' in reply) {
          this.discard(slot);
          this.waiting.shift()?.reject(this.failureOf(reply));
        } else this.rest(slot);
        this.next();
      },
    };
    worker.on('message', (reply: Reply) => slot.hear(reply));
    worker.on('error', (died) => slot.hear({ died }));
  }

  private discard(slot: Slot): void {
    this.slots--;
    slot.hear = () => undefined;
    void slot.worker.terminate();
  }
}

/** The whole program of a worker, handed over as text: it can use nothing but its argument. */
function renderOnRequest(load: NodeJS.Require): void {
  const threads = load('node:worker_threads') as typeof WorkerThreads;
  const parent = threads.parentPort!;
  const { engine, outputCharactersMax, tooLarge } = threads.workerData as {
    engine: string;
    outputCharactersMax: number;
    tooLarge: string;
  };
  const { Template } = load(engine) as typeof Jinja;
  parent.postMessage({ text: 'ready' });
  parent.on('message', ({ template, context }: { template: string; context: Record<string, unknown> }) => {
    try {
      const text = new Template(template).render(context);
      parent.postMessage(text.length > outputCharactersMax ? { error: tooLarge } : { text });
    } catch (error) {
      parent.postMessage({ error: error instanceof Error ? error.message : String(error) });
    }
  });
}
