import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Asked, Said } from './messages.js';

/** Number of characters kept of a program's standard error. */
const LAST_WORDS_CHARACTERS_MAX = 1_000;

/** The entry file of a child process, its options, and the heap at which V8 ends it. */
export type Program = Readonly<{ entry: URL; options?: unknown; heapMegabytesMax?: number }>;

export type Listener<Answer> = Readonly<{
  hear: (said: Said<Answer>) => void;
  /** Called at the end of the process. No message follows. */
  ended: (why: string) => void;
}>;

/** A running child process. Of the service's environment it gets only the time zone. */
export class RunningProgram<Question, Answer> {
  private readonly child: ChildProcess;
  private readonly gone: Promise<void>;

  /** @throws Error if the process cannot be started */
  constructor({ entry, options, heapMegabytesMax }: Program, { hear, ended }: Listener<Answer>) {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const child = fork(fileURLToPath(entry), [JSON.stringify(options ?? null)], {
      env: { TZ: timeZone },
      execArgv: heapMegabytesMax === undefined ? [] : [`--max-old-space-size=${heapMegabytesMax}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.child = child;
    const lastWords = this.lastWords();
    child.on('message', (said) => hear(said as Said<Answer>));
    this.gone = new Promise<void>((resolve) => {
      // The last message may arrive after the exit of the process, but before the channel closes.
      const exit = new Promise<string>((exited) =>
        child.on('close', (code, signal) => exited(`It ended with ${signal ?? code}. ${lastWords()}`.trimEnd())),
      );
      const silence = new Promise<void>((silent) => child.on('disconnect', silent));
      child.on('disconnect', () => child.kill('SIGKILL'));
      const failure = new Promise<string>((failed) =>
        child.on('error', (error) => child.pid === undefined && failed(error.message)),
      );
      void Promise.race([failure, Promise.all([exit, silence]).then(([why]) => why)]).then((why) => {
        ended(why);
        resolve();
      });
    });
  }

  /** The end of standard error. It is not forwarded, because a process that runs out of memory prints pages. */
  private lastWords(): () => string {
    let words = '';
    this.child.stderr
      ?.setEncoding('utf8')
      .on('data', (more: string) => (words = (words + more).slice(-LAST_WORDS_CHARACTERS_MAX)));
    return () => words;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Sends a message. @throws Error if the message cannot be serialised */
  send(asked: Asked<Question>): void {
    this.child.send(asked, () => undefined);
  }

  /** Sets whether the process keeps the service running. */
  hold(isNeeded: boolean): void {
    const how = isNeeded ? 'ref' : 'unref';
    this.child[how]();
    this.child.channel?.[how]();
    (this.child.stderr as Socket | null)?.[how]();
  }

  async kill(): Promise<void> {
    this.hold(true);
    this.child.kill('SIGKILL');
    await this.gone;
  }
}
