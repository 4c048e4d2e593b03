import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { serverUser } from '../../src/platform/postgres/unix-user.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';

const ROOT = join(import.meta.dirname, '..', '..');
const BUILD_MS_MAX = 600_000;
const START_MS_MAX = 120_000;
const KEPT_OUTPUT_CHARACTERS = 20_000;

/**
 * The content of the Dockerfile's last stage, in a local folder: the build, the packages without development ones, and nothing
 * else.
 */
export class PackedImage {
  private constructor(
    readonly folder: string,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly command: readonly string[],
  ) {}

  static async pack(): Promise<PackedImage> {
    await promisify(execFile)('npm', ['run', '--silent', 'build:if-needed'], { cwd: ROOT, timeout: BUILD_MS_MAX });
    const folder = await mkdtemp(join(tmpdir(), 'verbatim-image-'));
    await chmod(folder, 0o755);
    const lastStage = (await readFile(join(ROOT, 'Dockerfile'), 'utf8')).split(/^FROM /m).at(-1)!;
    for (const [, from, to] of lastStage.matchAll(/^COPY --from=build \/app\/(\S+) (\S+)$/gm)) {
      if (from === 'node_modules') await copyPackages(folder);
      else await cp(join(ROOT, from!), join(folder, to === './' ? from! : to!), { recursive: true });
    }
    const environment = /^ENV (.+)$/m
      .exec(lastStage)![1]!
      .split(' ')
      .map((each) => each.split('=') as [string, string]);
    const command = JSON.parse(/^CMD (.+)$/m.exec(lastStage)![1]!) as string[];
    return new PackedImage(folder, Object.fromEntries(environment), command);
  }

  /** Runs the image's command as an ordinary user in a folder that this user may not write to. */
  async run(settings: Readonly<Record<string, string>>): Promise<RunningImage> {
    const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-image-data-'));
    const user = serverUser(dataDir);
    if (user) await chown(dataDir, user.uid, user.gid);
    const port = await freePort();
    const [program, ...rest] = this.command;
    const child = spawn(program === 'node' ? process.execPath : program!, rest, {
      cwd: this.folder,
      env: {
        PATH: process.env['PATH'],
        ...this.environment,
        HOST: '127.0.0.1',
        DATA_DIR: dataDir,
        ...settings,
        PORT: String(port),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...user,
    });
    const running = new RunningImage(child, `http://127.0.0.1:${port}`, dataDir);
    await running.untilHealthy();
    return running;
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

export class RunningImage {
  private said = '';

  constructor(
    private readonly child: ChildProcess,
    readonly url: string,
    private readonly dataDir: string,
  ) {
    const note = (text: Buffer) => (this.said = (this.said + text.toString()).slice(-KEPT_OUTPUT_CHARACTERS));
    child.stdout!.on('data', note);
    child.stderr!.on('data', note);
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get output(): string {
    return this.said;
  }

  async untilHealthy(): Promise<void> {
    const isHealthy = async () => !this.isRunning || (await fetch(`${this.url}/api/health`)).ok;
    await eventually(isHealthy, START_MS_MAX, 'the image is healthy').catch((cause: unknown) => {
      throw new Error(this.said, { cause });
    });
    if (!this.isRunning) throw new Error(`The image ended:\n${this.said}`);
  }

  /** Stops it like an operator. Returns the exit code. */
  async stop(): Promise<number | null> {
    if (this.isRunning) {
      this.child.kill('SIGTERM');
      await once(this.child, 'exit');
    }
    await rm(this.dataDir, { recursive: true, force: true });
    return this.child.exitCode;
  }
}

/** Copies the packages that `npm prune --omit=dev` leaves. */
async function copyPackages(folder: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(ROOT, 'node_modules', '.package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { dev?: boolean; devOptional?: boolean }>>;
  };
  for (const [path, { dev, devOptional }] of Object.entries(lock.packages)) {
    if (dev || devOptional) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    const own = join(ROOT, path);
    await cp(own, join(folder, path), { recursive: true, filter: (source) => source !== join(own, 'node_modules') });
  }
}
