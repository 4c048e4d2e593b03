import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Asked, Said } from './messages.js';

/** A program under test runs from its source, and has to be taught TypeScript first. */
const TYPESCRIPT = ['--import', new URL('../../../test/support/typescript.js', import.meta.url).href];

/** So much is kept of what a program complains of. */
const LAST_WORDS_CHARACTERS_MAX = 1_000;

/** Which file a child process runs, and what it is told once and for all. */
export type Program = Readonly<{ entry: URL; options?: unknown }>;

export type Listener<Answer> = Readonly<{
  hear: (said: Said<Answer>) => void;
  /** Nothing is heard after that. */
  ended: (why: string) => void;
}>;

/** A child process from its start to its end. It has nothing of the service's environment but the time zone. */
export class RunningProgram<Question, Answer> {
  private readonly child: ChildProcess;
  private readonly gone: Promise<void>;

  /** @throws Error when no process can be had */
  constructor({ entry, options }: Program, { hear, ended }: Listener<Answer>) {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const child = fork(fileURLToPath(entry), [JSON.stringify(options ?? null)], {
      env: { TZ: timeZone },
      execArgv: entry.pathname.endsWith('.ts') ? TYPESCRIPT : [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.child = child;
    const lastWords = this.lastWords();
    child.on('message', (said) => hear(said as Said<Answer>));
    this.gone = new Promise<void>((resolve) => {
      // The last word may still be on its way when the process is gone; the end of the channel comes after it.
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

  /** What it has complained of last. It is nothing for the service's own output: of a process that runs out of memory it is pages. */
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

  /** @throws Error for what cannot be sent */
  tell(asked: Asked<Question>): void {
    this.child.send(asked, () => undefined);
  }

  /** Whether it keeps the service from ending by itself. */
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
