import { Worker } from 'node:worker_threads';

export type ThreadFailure = 'busy' | 'out-of-time' | 'died';

/** The thread of a job failed. `died`: it exceeded the memory limit. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed';
  constructor(readonly failure: ThreadFailure) {
    super(`A job in a thread failed: ${failure}.`);
  }
}

export type ThreadLimits = Readonly<{
  /** The time limit of a job, from the moment that a thread receives it. */
  deadlineMs: number;
  workersMax: number;
  waitingMax: number;
  workerHeapMb: number;
}>;

/**
 * The program of a thread. It is passed as source text, so it may only use its argument. It sends `ready` and then one answer per
 * job.
 */
export type ThreadProgram = (load: NodeJS.Require) => void;

type Job<Question, Answer> = Readonly<{
  question: Question;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  /** Aborts when the caller no longer waits. */
  signal: AbortSignal | undefined;
}>;

type Reply<Answer> = Readonly<{ answer: Answer } | { died: true }>;

/** A thread, and the receiver of its next message. */
type Slot<Answer> = { worker: Worker; hear: (reply: Reply<Answer>) => void };

/** Runs jobs that may not terminate in threads. A thread is stopped at its time or memory limit. */
export class BoundedThreads<Question, Answer> {
  private readonly idle: Slot<Answer>[] = [];
  private readonly waiting: Job<Question, Answer>[] = [];
  private slots = 0;

  constructor(
    private readonly program: ThreadProgram,
    private readonly workerData: object,
    private readonly limits: ThreadLimits,
  ) {}

  /** @throws ThreadFailed; the signal's reason */
  run(question: Question, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.waiting.length >= this.limits.waitingMax) throw new ThreadFailed('busy');
      this.waiting.push({ question, resolve, reject, signal });
      this.next();
    });
  }

  private next(): void {
    for (let slot; this.waiting.length > 0 && (slot = this.idle.pop());) this.give(slot, this.waiting.shift()!);
    if (this.waiting.length > 0 && this.slots < this.limits.workersMax) this.start();
  }

  private give(slot: Slot<Answer>, { question, resolve, reject, signal }: Job<Question, Answer>): void {
    if (signal?.aborted) {
      reject(signal.reason);
      return this.rest(slot);
    }
    const stop = (why: unknown) => {
      settled();
      this.discard(slot);
      reject(why);
      this.next();
    };
    const deadline = setTimeout(() => stop(new ThreadFailed('out-of-time')), this.limits.deadlineMs);
    const abort = () => stop(signal!.reason);
    const settled = () => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', abort);
    };
    signal?.addEventListener('abort', abort);
    slot.hear = (reply) => {
      settled();
      if ('died' in reply) {
        reject(new ThreadFailed('died'));
        this.discard(slot);
      } else {
        resolve(reply.answer);
        this.rest(slot);
      }
      this.next();
    };
    slot.worker.ref();
    slot.worker.postMessage(question);
  }

  /** Marks a thread as idle. An idle thread does not keep the process running. */
  private rest(slot: Slot<Answer>): void {
    this.idle.push(slot);
    slot.worker.unref();
    slot.hear = () => {
      this.idle.splice(this.idle.indexOf(slot), 1);
      this.discard(slot);
    };
  }

  /** Starts a thread. It reports when it is ready, so that its start does not count towards the deadline of a job. */
  private start(): void {
    this.slots++;
    const worker = new Worker(`(${this.program.toString()})(require)`, {
      eval: true,
      workerData: this.workerData,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.limits.workerHeapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    });
    const slot: Slot<Answer> = {
      worker,
      hear: (reply) => {
        if ('died' in reply) {
          this.discard(slot);
          this.waiting.shift()?.reject(new ThreadFailed('died'));
        } else this.rest(slot);
        this.next();
      },
    };
    worker.on('message', (answer: Answer) => slot.hear({ answer }));
    worker.on('error', () => slot.hear({ died: true }));
  }

  private discard(slot: Slot<Answer>): void {
    this.slots--;
    slot.hear = () => undefined;
    void slot.worker.terminate();
  }
}
