import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { CodeLimits } from '../code-limits.js';
import type { CodeFailure, CodeJob, CodeResult } from '../code-runner.port.js';
import { CollectedResult } from './collected-result.js';
import { type Frame, FrameReader, frameOf, FrameRefused } from './frames.js';
import { memoryUseOf } from './memory-use.js';

const MiB = 1024 * 1024;
const WASM_PAGE_BYTES = 64 * 1024;

/** Of the memory of a process, what Node and the interpreter take before any code runs; the rest is Python's. */
const OWN_MEMORY_BYTES = 192 * MiB;
const HEAP_MEGABYTES_MAX = 128;
const MEMORY_CHECK_MS = 50;
/** Starting takes three seconds of the processor, and as much again on one that is shared. */
const START_CPU_SECONDS = 60;
const LAST_WORDS_CHARACTERS_MAX = 1_000;

const PROGRAM = realpathSync(fileURLToPath(new URL('./python-program.mjs', import.meta.url)));
const PYODIDE = realpathSync(dirname(createRequire(import.meta.url).resolve('pyodide/package.json')));

/**
 * Lowers what the kernel gives the program: no core, no file that is written, so much of the processor, so much memory. Then it waits
 * until the service closes descriptor 4, on purpose or with its own death, and the program ends with that, whatever it does.
 */
const GUARD = `ulimit -c 0; ulimit -f 0; ulimit -t "$1"; ulimit -d "$2" 2>/dev/null; shift 2
"$@" 4<&- &
exec >&- 2>&- 3<&-
read -r _ <&4
kill -9 $! 2>/dev/null
wait`;

/** The permission model has lost "experimental" on its way. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';

/** What Node is told: it may read the interpreter and nothing else, write nothing, start nothing, and make no code of texts. */
export const pythonArguments = (limits: CodeLimits): readonly string[] => [
  PERMISSION,
  `--allow-fs-read=${PYODIDE}/`,
  `--allow-fs-read=${PROGRAM}`,
  '--no-addons',
  '--disallow-code-generation-from-strings',
  '--no-warnings',
  `--max-old-space-size=${HEAP_MEGABYTES_MAX}`,
  `--wasm-max-mem-pages=${Math.floor((limits.memoryBytesMax - OWN_MEMORY_BYTES) / WASM_PAGE_BYTES)}`,
  PROGRAM,
  JSON.stringify({ pyodideFolder: PYODIDE, limits }),
];

/** No interpreter came of it. */
export class PythonNotStarted extends Error {
  override readonly name = 'PythonNotStarted';
}

/** A process with one interpreter, for one run: nothing of a run is there in the next. */
export class PythonProcess {
  private readonly child: ChildProcess;
  private readonly frames: FrameReader;
  private readonly startTimer: NodeJS.Timeout;
  private hear: (frame: Frame) => void = () => undefined;
  private pid = 0;
  private lastWords = '';
  private isOver = false;
  /** Resolves when the interpreter waits for its run. @throws PythonNotStarted */
  readonly ready: Promise<void>;
  /** Resolves when there is nothing more to hear. */
  private readonly over: Promise<void>;

  constructor(
    private readonly limits: CodeLimits,
    nodeArguments = pythonArguments(limits),
  ) {
    const cpuSeconds = START_CPU_SECONDS + Math.ceil(limits.timeoutMsMax / 1000);
    const guarded = [String(cpuSeconds), String(Math.floor(limits.memoryBytesMax / 1024)), process.execPath, ...nodeArguments];
    this.child = spawn('/bin/sh', ['-c', GUARD, 'python', ...guarded], {
      env: {},
      cwd: tmpdir(),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    this.frames = new FrameReader(limits.fileBytesMax);
    this.over = new Promise((resolve) => {
      this.output.once('close', resolve);
      this.child.once('error', () => resolve());
    });
    void this.over.then(() => this.kill());
    this.ready = this.started();
    this.ready.catch(() => undefined);
    this.startTimer = setTimeout(() => this.kill(), limits.startMsMax).unref();
    this.listen();
    this.hold(false);
  }

  /** Every outcome is a result. @throws the signal's reason */
  async run(job: CodeJob, signal: AbortSignal): Promise<CodeResult> {
    const result = new CollectedResult(this.limits);
    this.hold(true);
    const timeoutMs = Math.min(job.timeoutMs, this.limits.timeoutMsMax);
    let timeout: NodeJS.Timeout | undefined;
    let giveUp = (): void => undefined;
    const memory = this.watchMemory();
    try {
      signal.throwIfAborted();
      const failure = await new Promise<CodeFailure | null>((resolve, reject) => {
        giveUp = () => reject(signal.reason as Error);
        signal.addEventListener('abort', giveUp, { once: true });
        timeout = setTimeout(() => resolve({ kind: 'timeout', text: `It took longer than ${timeoutMs / 1000} s.` }), timeoutMs);
        void memory.isUsedUp.then(() => resolve(tooMuchMemory(this.limits)));
        void this.over.then(() => resolve(ended(this.lastWords)));
        this.hear = (frame) => {
          const failure = result.add(frame);
          if (failure !== undefined) resolve(failure);
        };
        this.give(job);
      });
      return result.as(failure);
    } finally {
      clearTimeout(timeout);
      memory.end();
      signal.removeEventListener('abort', giveUp);
      this.kill();
    }
  }

  /** At once, also in the middle of anything. */
  kill(): void {
    clearTimeout(this.startTimer);
    this.hear = () => undefined;
    if (this.isOver) return;
    this.isOver = true;
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // All of it is gone.
    }
    for (const stream of this.child.stdio) stream?.destroy();
  }

  async close(): Promise<void> {
    this.kill();
    await this.over;
  }

  private get output(): Readable {
    return this.child.stdout!;
  }

  private started(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.hear = ({ head }) => {
        if (head['kind'] !== 'ready' || typeof head['pid'] !== 'number') return this.kill();
        this.pid = head['pid'];
        clearTimeout(this.startTimer);
        resolve();
      };
      void this.over.then(() => reject(new PythonNotStarted(`No interpreter was started. ${this.lastWords}`.trimEnd())));
    });
  }

  private listen(): void {
    this.output.on('data', (piece: Buffer) => {
      try {
        for (const frame of this.frames.push(piece)) this.hear(frame);
      } catch (error) {
        if (!(error instanceof FrameRefused)) throw error;
        this.hear({ head: {}, body: Buffer.alloc(0) });
        this.kill();
      }
    });
    this.child.stderr!.setEncoding('utf8').on('data', (words: string) => {
      this.lastWords = (this.lastWords + words).slice(-LAST_WORDS_CHARACTERS_MAX);
    });
    // What is written to a process that has ended is lost, and its end is noticed anyway.
    for (const stream of this.child.stdio) stream?.on('error', () => undefined);
  }

  private give({ code, state, inputs }: CodeJob): void {
    const job = this.child.stdio[3] as Writable;
    const send = (head: Frame['head'], body?: Uint8Array) => {
      for (const bytes of frameOf(head, body)) job.write(bytes);
    };
    send({ kind: 'code' }, Buffer.from(code));
    send({ kind: 'file', name: 'state.json' }, Buffer.from(JSON.stringify(state ?? null)));
    for (const { name, content } of inputs) send({ kind: 'file', name: `inputs/${name}` }, content);
    send({ kind: 'run' });
  }

  private watchMemory() {
    let timer: NodeJS.Timeout | undefined;
    const isUsedUp = new Promise<void>((resolve) => {
      timer = setInterval(() => {
        void memoryUseOf(this.pid).then((bytes) => bytes !== undefined && bytes > this.limits.memoryBytesMax && resolve());
      }, MEMORY_CHECK_MS);
    });
    return { isUsedUp, end: () => clearInterval(timer) };
  }

  /** Whether it keeps the service from ending by itself. */
  private hold(isNeeded: boolean): void {
    const how = isNeeded ? 'ref' : 'unref';
    this.child[how]();
    for (const stream of this.child.stdio) (stream as Socket | null)?.[how]();
  }
}

const tooMuchMemory = ({ memoryBytesMax }: CodeLimits): CodeFailure => ({
  kind: 'memory',
  text: `It needed more than ${memoryBytesMax} bytes of memory.`,
});

const OUT_OF_MEMORY = /out of memory|allocation failed/i;

/** Why an interpreter has ended in the middle of a run. */
const ended = (lastWords: string): CodeFailure =>
  OUT_OF_MEMORY.test(lastWords)
    ? { kind: 'memory', text: 'It needed more memory than a run may have.' }
    : { kind: 'error', text: 'The interpreter ended before the code did.' };
