import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

const START_MS_MAX = 60_000;

/** A real nats-server with an empty JetStream store, on its own port. */
export class NatsServer {
  private process: ChildProcess | undefined;

  private constructor(
    readonly port: number,
    private readonly folder: string,
  ) {}

  /** With `spaceBytes`, JetStream stores at most this many bytes. */
  static async start({ spaceBytes }: { spaceBytes?: number } = {}): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), await mkdtemp(join(tmpdir(), 'verbatim-nats-')));
    const limit = spaceBytes === undefined ? '' : `max_file_store: ${spaceBytes}`;
    await writeFile(server.settings, `jetstream { store_dir: "${server.folder}", ${limit} }\n`);
    await server.run();
    return server;
  }

  private get settings(): string {
    return `${this.folder}.conf`;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Kills the server, like a crash. Its store remains. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Starts the server again on the same port, with the same store. */
  async restart(): Promise<void> {
    await this.end('SIGKILL');
    await this.run();
  }

  /** Deletes its store. Only while the server is down. */
  async empty(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Freezes the server: sockets stay open and get no response. Resolves once all its threads have stopped. */
  async freeze(): Promise<void> {
    this.process!.kill('SIGSTOP');
    await eventually(() => standsStill(this.process!.pid!));
  }

  thaw(): void {
    this.process?.kill('SIGCONT');
  }

  /** Ends the server and removes its store. */
  async stop(): Promise<void> {
    this.thaw();
    await this.end('SIGTERM');
    for (const path of [this.folder, this.settings]) await rm(path, { recursive: true, force: true });
  }

  private async run(): Promise<void> {
    const args = ['-c', this.settings, '-a', '127.0.0.1', '-p', String(this.port)];
    const server = spawn('nats-server', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.process = server;
    let said = '';
    let failure: Error | undefined;
    server.stderr.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-4_000)));
    server.once('error', (cause) => {
      failure = new Error('These tests need nats-server on the PATH: apt-get install nats-server, or https://nats.io/download.', {
        cause,
      });
    });
    server.once('exit', (code) => (failure ??= new Error(`nats-server ended with ${code}:\n${said}`)));
    await eventually(async () => {
      if (failure) return true;
      return accepts(this.port);
    }, START_MS_MAX);
    if (failure) throw failure;
  }

  private async end(how: NodeJS.Signals): Promise<void> {
    const server = this.process;
    this.process = undefined;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(how);
    await ended;
  }
}

/** Whether the server sends the INFO line, which it does once it is ready, including JetStream. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    return greeting.toString().startsWith('INFO');
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Whether all threads have stopped. A signal stops them one after another. */
async function standsStill(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-L', '-o', 'state=', '-p', String(pid)]);
  return stdout.split('\n').every((state) => state.trim() === '' || state.startsWith('T'));
}
