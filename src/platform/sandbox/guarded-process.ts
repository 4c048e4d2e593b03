import type { Said } from './messages.js';
import { type Program, RunningProgram } from './running-program.js';

/** How long a program may take to load, also on a busy machine. */
const START_MS_MAX = 30_000;

/** Number of failed starts in a row before waiting questions fail. */
const STARTS_MAX = 3;

export type GuardedProcessFailure = 'died' | 'not-started' | 'closed';

/** The process of a question failed. `died`: the question itself crashes processes. */
export class GuardedProcessFailed extends Error {
  override readonly name = 'GuardedProcessFailed';
  constructor(
    readonly failure: GuardedProcessFailure,
    message: string,
  ) {
    super(message);
  }
}

export type GuardedProcessOptions = Readonly<{
  program: Program;
  /** Maximum number of questions that the program has at a time. Without it, the program limits itself. */
  inHandMax?: number;
  /** After a crash, a spare process is kept for this long, to replace the next one that crashes. */
  standbyMs?: number;
}>;

/** A started process, and whether it is ready. */
type Running<Question, Answer> = { readonly program: RunningProgram<Question, Answer>; isReady: boolean };

type Job<Question, Answer> = {
  readonly id: number;
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
  /** It was in progress when a process crashed. */
  isSuspect: boolean;
  /** The caller no longer waits for the answer. */
  isGivenUp: boolean;
};

/**
 * A child process for work that may crash its process, for example when memory runs out faster than a thread can be stopped. It
 * starts with the first question, stays, and does not keep the service running. After a crash it is unknown which question caused
 * it, so each question in progress is asked again, alone. A question that crashes a second process has failed.
 */
export class GuardedProcess<Question, Answer> {
  private readonly jobs: Job<Question, Answer>[] = [];
  private readonly suspects: Job<Question, Answer>[] = [];
  private readonly inHand = new Map<number, Job<Question, Answer>>();
  private running: Running<Question, Answer> | undefined;
  private standby: Running<Question, Answer> | undefined;
  private standbyExpiry: NodeJS.Timeout | undefined;
  private isClosed = false;
  private startsFailed = 0;
  private lastId = 0;

  constructor(private readonly options: GuardedProcessOptions) {}

  /** The number of questions that the program has not received yet. */
  get waiting(): number {
    return this.jobs.length + this.suspects.length;
  }

  get pid(): number | undefined {
    return this.running?.program.pid;
  }

  /** @throws GuardedProcessFailed; the signal's reason; the error of the program */
  async ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    if (this.isClosed) throw closed();
    let giveUp = (): void => undefined;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        const job = { id: ++this.lastId, question, resolve, reject, isSuspect: false, isGivenUp: false };
        giveUp = () => this.giveUp(job, signal?.reason);
        signal?.addEventListener('abort', giveUp);
        this.jobs.push(job);
        this.next();
      });
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const job of [...this.jobs.splice(0), ...this.suspects.splice(0), ...this.inHand.values()]) job.reject(closed());
    this.inHand.clear();
    clearTimeout(this.standbyExpiry);
    await Promise.all([this.running?.program.kill(), this.standby?.program.kill()]);
  }

  private next(): void {
    if (!this.running && this.waiting > 0) this.replace();
    if (this.running?.isReady) for (let job; (job = this.following());) this.give(job);
    const isNeeded = this.waiting > 0 || [...this.inHand.values()].some(({ isGivenUp }) => !isGivenUp);
    this.running?.program.hold(isNeeded);
  }

  /** The next question to send. Suspects go first, each alone. */
  private following(): Job<Question, Answer> | undefined {
    if (this.inHand.size > 0 && (this.suspects.length > 0 || [...this.inHand.values()].some(({ isSuspect }) => isSuspect)))
      return;
    if (this.suspects.length > 0) return this.suspects.shift();
    return this.inHand.size < (this.options.inHandMax ?? Infinity) ? this.jobs.shift() : undefined;
  }

  private give(job: Job<Question, Answer>): void {
    this.inHand.set(job.id, job);
    try {
      this.running!.program.send({ id: job.id, question: job.question });
    } catch (error) {
      this.inHand.delete(job.id);
      job.reject(error);
    }
  }

  /** Gives a question up. If the program has received it, it counts as in progress until the program answers. */
  private giveUp(job: Job<Question, Answer>, reason: unknown): void {
    job.isGivenUp = true;
    job.reject(reason);
    for (const list of [this.jobs, this.suspects]) if (list.includes(job)) list.splice(list.indexOf(job), 1);
    if (this.inHand.has(job.id)) this.running?.program.send({ cancel: job.id });
    this.next();
  }

  private replace(): void {
    if (!this.standby) return this.start((running) => (this.running = running));
    [this.running, this.standby] = [this.standby, undefined];
    this.keepStandby();
  }

  /** Starts a spare process, and keeps one while crashes continue. */
  private keepStandby(): void {
    const { standbyMs } = this.options;
    if (standbyMs === undefined || this.isClosed) return;
    clearTimeout(this.standbyExpiry);
    this.standbyExpiry = setTimeout(() => void this.standby?.program.kill(), standbyMs).unref();
    if (this.standby) return;
    this.start((standby) => {
      this.standby = standby;
      standby.program.hold(false);
    });
  }

  private start(place: (started: Running<Question, Answer>) => void): void {
    let started: Running<Question, Answer> | undefined;
    const late = setTimeout(() => void started?.program.kill(), START_MS_MAX).unref();
    const hear = (said: Said<Answer>) => {
      clearTimeout(late);
      this.hear(started!, said);
    };
    const ended = (why: string) => {
      clearTimeout(late);
      this.ended(started, why);
    };
    try {
      started = { program: new RunningProgram(this.options.program, { hear, ended }), isReady: false };
      place(started);
    } catch (error) {
      ended(String(error));
    }
  }

  private hear(speaker: Running<Question, Answer>, said: Said<Answer>): void {
    if (said === 'ready') {
      speaker.isReady = true;
      this.startsFailed = 0;
    } else {
      const job = this.inHand.get(said.id);
      this.inHand.delete(said.id);
      if ('answer' in said) job?.resolve(said.answer);
      else job?.reject(new Error('A guarded process could not answer.', { cause: said.failed }));
    }
    this.next();
  }

  private ended(ended: Running<Question, Answer> | undefined, why: string): void {
    if (ended && ended === this.standby) {
      this.standby = undefined;
      return;
    }
    if (!ended?.isReady && ++this.startsFailed >= STARTS_MAX) this.refuseAll(why);
    this.running = undefined;
    for (const job of this.inHand.values()) {
      if (job.isGivenUp) continue;
      if (job.isSuspect) job.reject(new GuardedProcessFailed('died', `A guarded process died of what it was asked. ${why}`));
      else this.suspects.push(job);
      job.isSuspect = true;
    }
    this.inHand.clear();
    this.next();
    if (ended?.isReady) this.keepStandby();
  }

  private refuseAll(why: string): void {
    this.startsFailed = 0;
    for (const job of [...this.jobs.splice(0), ...this.suspects.splice(0)]) {
      job.reject(new GuardedProcessFailed('not-started', `A guarded process could not be started. ${why}`));
    }
  }
}

const closed = (): GuardedProcessFailed => new GuardedProcessFailed('closed', 'The guarded process was closed.');
