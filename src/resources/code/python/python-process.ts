import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { CodeLimits } from '../code-limits.js';
import type { CodeFailure, CodeJob, CodeResult } from '../code-runner.port.js';
import { CollectedResult } from './collected-result.js';
import { type Frame, FrameReader, frameOf, FrameRefused } from './frames.js';
import { memoryUseOf } from './memory-use.js';

const MiB = 1024 * 1024;
const WASM_PAGE_BYTES = 64 * 1024;

/** The memory that Node and the interpreter need before any code runs. The rest of a process's memory is for Python. */
const OWN_MEMORY_BYTES = 192 * MiB;
/** V8 of Node 24 reserves half a GiB that it does not use, but the kernel counts it against the limit. */
const RESERVED_BYTES = 640 * MiB;
const HEAP_MEGABYTES_MAX = 128;
const SNAPSHOT_BYTES_MAX = 128 * MiB;
const MEMORY_CHECK_MS = 50;
/** Starting takes three seconds of CPU time, and twice as much on a shared CPU. */
const START_CPU_SECONDS = 60;
const LAST_WORDS_CHARACTERS_MAX = 1_000;

const PROGRAM = realpathSync(fileURLToPath(new URL('./python-program.mjs', import.meta.url)));
const PYODIDE = realpathSync(dirname(createRequire(import.meta.url).resolve('pyodide/package.json')));

/**
 * Limits the program by ulimit: no core dump, no written file, a maximum of CPU time ($1, seconds) and of memory ($2, KiB). Then
 * the shell waits until the service closes descriptor 4, on purpose or because it crashed, and kills the program.
 */
const GUARD = `ulimit -c 0; ulimit -f 0; ulimit -t "$1"; ulimit -d "$2" 2>/dev/null; shift 2
"$@" 4<&- &
exec >&- 2>&- 3<&-
read -r _ <&4
kill -9 $! 2>/dev/null
wait`;

/** Older versions of Node call the permission model experimental. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';

/** The arguments of Node: it may read only the interpreter, write no file, start no process, and compile no code from strings. */
export const pythonArguments = (limits: CodeLimits, task: 'run' | 'snapshot' = 'run'): readonly string[] => [
  PERMISSION,
  `--allow-fs-read=${PYODIDE}/`,
  `--allow-fs-read=${PROGRAM}`,
  '--no-addons',
  '--disallow-code-generation-from-strings',
  '--no-warnings',
  '--unhandled-rejections=none',
  `--max-old-space-size=${HEAP_MEGABYTES_MAX}`,
  // With more helper threads, V8 compiles code that a run of a few seconds hardly uses.
  '--v8-pool-size=1',
  `--wasm-max-mem-pages=${Math.floor((limits.memoryBytesMax - OWN_MEMORY_BYTES) / WASM_PAGE_BYTES)}`,
  PROGRAM,
  JSON.stringify({ task, pyodideFolder: PYODIDE, limits }),
];

/** The interpreter did not start. */
export class PythonNotStarted extends Error {
  override readonly name = 'PythonNotStarted';
}

/** A snapshot of the memory of a fresh interpreter. An interpreter that loads it starts in a fifth of the time. */
export async function freshMemory(limits: CodeLimits): Promise<Buffer> {
  const maker = new GuardedPython(limits, pythonArguments(limits, 'snapshot'), SNAPSHOT_BYTES_MAX);
  try {
    const { head, body } = await maker.next();
    if (head['kind'] !== 'snapshot') throw new PythonNotStarted('No interpreter could be made.');
    return body;
  } finally {
    maker.kill();
  }
}

/** A process with one interpreter for one run, so that a run leaves nothing behind for the next. */
export class PythonProcess {
  private readonly python: GuardedPython;
  private pid = 0;
  /** Resolves when the interpreter is ready to run code. @throws PythonNotStarted */
  readonly ready: Promise<void>;

  constructor(
    private readonly limits: CodeLimits,
    memory: Buffer,
    nodeArguments = pythonArguments(limits),
  ) {
    this.python = new GuardedPython(limits, nodeArguments, limits.fileBytesMax);
    this.python.send({ kind: 'snapshot' }, memory);
    this.ready = this.python.next().then(({ head }) => {
      if (head['kind'] !== 'ready' || typeof head['pid'] !== 'number') throw new PythonNotStarted('It is not ready.');
      this.pid = head['pid'];
      this.python.hold(false);
    });
    this.ready.catch(() => undefined);
  }

  /** Returns failures of the code as results. @throws the signal's reason */
  async run(job: CodeJob, signal: AbortSignal): Promise<CodeResult> {
    const result = new CollectedResult(this.limits);
    this.python.hold(true);
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
        void this.python.over.then(() => resolve(ended(this.python.lastWords)));
        this.python.hear = (frame) => {
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

  /** Ends the process at once, also during a run. */
  kill(): void {
    this.python.kill();
  }

  /** Resolves when the process has ended. */
  get over(): Promise<void> {
    return this.python.over;
  }

  private give({ code, state, inputs }: CodeJob): void {
    this.python.send({ kind: 'code' }, Buffer.from(code));
    this.python.send({ kind: 'file', name: 'state.json' }, Buffer.from(JSON.stringify(state ?? null)));
    for (const { name, content } of inputs) this.python.send({ kind: 'file', name: `inputs/${name}` }, content);
    this.python.send({ kind: 'run' });
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
}

/** The child process of the program: its start, its frames in both directions, and its end. */
class GuardedPython {
  private readonly child: ChildProcess;
  private readonly frames: FrameReader;
  private readonly startTimer: NodeJS.Timeout;
  private isKilled = false;
  hear: (frame: Frame) => void = () => undefined;
  lastWords = '';
  /** Resolves when the output of the process has ended, or the process could not be started. */
  readonly over: Promise<void>;

  constructor(limits: CodeLimits, nodeArguments: readonly string[], bodyBytesMax: number) {
    const cpuSeconds = START_CPU_SECONDS + Math.ceil(limits.timeoutMsMax / 1000);
    const dataKilobytes = Math.floor((limits.memoryBytesMax + RESERVED_BYTES) / 1024);
    const guarded = [String(cpuSeconds), String(dataKilobytes), process.execPath, ...nodeArguments];
    this.child = spawn('/bin/sh', ['-c', GUARD, 'python', ...guarded], {
      env: {},
      cwd: tmpdir(),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    this.frames = new FrameReader(bodyBytesMax);
    this.over = new Promise((resolve) => {
      this.child.stdout!.once('close', resolve);
      this.child.once('error', () => resolve());
    });
    void this.over.then(() => this.kill());
    this.startTimer = setTimeout(() => this.kill(), limits.startMsMax).unref();
    this.listen();
  }

  /** The next frame that the process sends. @throws PythonNotStarted */
  async next(): Promise<Frame> {
    const first = new Promise<Frame>((resolve) => (this.hear = resolve));
    const frame = await Promise.race([first, this.over]);
    clearTimeout(this.startTimer);
    if (!frame) throw new PythonNotStarted(`No interpreter was started. ${this.lastWords}`.trimEnd());
    return frame;
  }

  send(head: Frame['head'], body?: Uint8Array): void {
    for (const bytes of frameOf(head, body)) (this.child.stdio[3] as Writable).write(bytes);
  }

  kill(): void {
    clearTimeout(this.startTimer);
    this.hear = () => undefined;
    if (this.isKilled) return;
    this.isKilled = true;
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // The process group has ended already.
    }
    for (const stream of this.child.stdio) stream?.destroy();
  }

  /** Sets whether the child process keeps the service's event loop alive. */
  hold(isNeeded: boolean): void {
    const how = isNeeded ? 'ref' : 'unref';
    this.child[how]();
    for (const stream of this.child.stdio) (stream as Socket | null)?.[how]();
  }

  private listen(): void {
    this.child.stdout!.on('data', (piece: Buffer) => {
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
    // Writing to a process that has ended fails. `over` reports the end, so the error is ignored.
    for (const stream of this.child.stdio) stream?.on('error', () => undefined);
  }
}

const tooMuchMemory = ({ memoryBytesMax }: CodeLimits): CodeFailure => ({
  kind: 'memory',
  text: `It needed more than ${memoryBytesMax} bytes of memory.`,
});

const OUT_OF_MEMORY = /out of memory|allocation failed/i;

/** The failure of a run whose interpreter ended before the code did. */
const ended = (lastWords: string): CodeFailure =>
  OUT_OF_MEMORY.test(lastWords)
    ? { kind: 'memory', text: 'It needed more memory than a run may have.' }
    : { kind: 'error', text: 'The interpreter ended before the code did.' };
