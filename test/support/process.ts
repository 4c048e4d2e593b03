import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledProgram } from './compiled-program.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** A cold start reads and compiles all of the program, on a busy machine beside others. */
const START_MS_MAX = 110_000;
const KEPT_OUTPUT_CHARACTERS = 40_000;
const WARM_START = join(import.meta.dirname, 'warm-start.js');

/** How a process ended, and how long it took from the word to it. */
export type Ended = Readonly<{ code: number | null; signal: NodeJS.Signals | null; ms: number }>;

export type ProcessOptions = Readonly<{
  environment: Readonly<Record<string, string>>;
  /** So many processes have read the code in and wait for their turn: a restart then takes a fraction of the time. */
  standbys?: number;
  /** How far its clock is off the machine's, to begin with. */
  clockOffMs?: number;
  /** How many files and connections it may have open, as `ulimit -n` says it. */
  descriptorsMax?: number;
}>;

/** The program as its users run it: a process on a port of its own, to be killed and started again over the same data. */
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

  /** The newest of what it and its predecessors logged. */
  get output(): string {
    return this.said;
  }

  /** Resolves once it takes requests. */
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

  /** Its clock is so far off the machine's, from now on and through all restarts. */
  setClock(offMs: number): void {
    this.clockOffMs = offMs;
    if (this.running && !hasEnded(this.running)) this.running.stdin!.write(`clock ${offMs}\n`);
  }

  /** As `kill -9`: nothing is finished, said or closed. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** As an operator stops it. */
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
      // Where no .env lies.
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
