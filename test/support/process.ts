import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledProgram } from './compiled-program.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** A cold start loads and compiles the whole program, possibly on a busy machine. */
const START_MS_MAX = 110_000;
/** How long clients repeat a request, or wait for its effect: the process may be killed and started meanwhile. */
export const RESTARTED_MS_MAX = START_MS_MAX + 60_000;
const KEPT_OUTPUT_CHARACTERS = 40_000;
const WARM_START = join(import.meta.dirname, 'warm-start.js');

/** How a process ended, and the time from the signal to its end. */
export type Ended = Readonly<{ code: number | null; signal: NodeJS.Signals | null; ms: number }>;

export type ProcessOptions = Readonly<{
  environment: Readonly<Record<string, string>>;
  /** The number of processes that have loaded the code and wait to be started. A restart then takes a fraction of the time. */
  standbys?: number;
  /** The initial offset of its clock from the machine's. */
  clockOffMs?: number;
  /** The maximum number of open files and connections, as for `ulimit -n`. */
  descriptorsMax?: number;
}>;

/** The program as its users run it: a process on its own port that can be killed and restarted on the same data. */
export class ServiceProcess {
  private running: ChildProcess | undefined;
  private readonly waiting: ChildProcess[] = [];
  private said = '';
  private clockOffMs: ProcessOptions['clockOffMs'];

  private constructor(
    private readonly program: string,
    private readonly options: ProcessOptions,
    readonly port: number,
  ) {
    this.clockOffMs = options.clockOffMs;
  }

  static async start(options: ProcessOptions): Promise<ServiceProcess> {
    const service = new ServiceProcess(await compiledProgram(), options, await freePort());
    await service.start();
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.running!.pid!;
  }

  /** The end of the log output of the process and its predecessors. */
  get output(): string {
    return this.said;
  }

  /** Resolves once the service accepts requests. */
  async start(): Promise<void> {
    const child = this.waiting.shift() ?? this.spawn();
    this.running = child;
    if (this.clockOffMs !== undefined) child.stdin!.write(`clock ${this.clockOffMs}\n`);
    child.stdin!.write('start\n');
    while (this.waiting.length < (this.options.standbys ?? 0)) this.waiting.push(this.spawn());
    await eventually(
      async () => {
        if (hasEnded(child)) return true;
        await (await fetch(`${this.url}/api/health`)).arrayBuffer();
        return true;
      },
      START_MS_MAX,
      'the service takes requests',
    ).catch((error: unknown) => {
      throw new Error(`The service did not start:\n${this.said}`, { cause: error });
    });
    if (hasEnded(child)) throw new Error(`The service ended with ${child.exitCode ?? child.signalCode}:\n${this.said}`);
  }

  /** Sets the offset of its clock from the machine's, from now on and across restarts. */
  setClock(offMs: number): void {
    this.clockOffMs = offMs;
    if (this.running && !hasEnded(this.running)) this.running.stdin!.write(`clock ${offMs}\n`);
  }

  /** Like `kill -9`: nothing is finished, logged or closed. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Stops the service like an operator. */
  async terminate(): Promise<Ended> {
    return this.end('SIGTERM');
  }

  async close(): Promise<void> {
    for (const child of this.waiting.splice(0)) child.kill('SIGKILL');
    if (this.running && !hasEnded(this.running)) await this.end('SIGTERM');
  }

  private async end(how: NodeJS.Signals): Promise<Ended> {
    const child = this.running!;
    const since = performance.now();
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    if (hasEnded(child))
      throw new Error(`The service had ended by itself with ${child.exitCode ?? child.signalCode}:\n${this.said}`);
    child.kill(how);
    const [code, signal] = await ended;
    return { code, signal, ms: performance.now() - since };
  }

  private spawn(): ChildProcess {
    const { PATH, HOME } = process.env;
    const { descriptorsMax } = this.options;
    const limited = descriptorsMax === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${descriptorsMax} && exec "$0" "$@"`];
    const [command, ...rest] = [...limited, process.execPath, WARM_START, this.program];
    const child = spawn(command, rest, {
      env: { PATH, HOME, ...this.options.environment, PORT: String(this.port) },
      // A folder without an .env file.
      cwd: tmpdir(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const note = (text: Buffer) => (this.said = (this.said + text.toString()).slice(-KEPT_OUTPUT_CHARACTERS));
    child.stdout.on('data', note);
    child.stderr.on('data', note);
    child.stdin.on('error', () => undefined);
    return child;
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;
