import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Microseconds of a clock that all processes of the machine share. */
export const microsNow = (): number => Math.round(Number(process.hrtime.bigint()) / 1000);

/** A separate process for a bench, so that neither delays the other. */
export type Program = Readonly<{ url: string; pid: number; stop(): Promise<void> }>;

const STOP_MS = 15_000;

/** Starts a file of `programs/`, which prints its address on its first line. It ends with this process, however that ends. */
export async function startProgram(name: string, ...args: readonly string[]): Promise<Program> {
  const file = fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, file, ...args], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  return { url: await firstLineOf(child, /^((?:http|esdb):\S+)$/), pid: child.pid!, stop: () => stop(child, 'SIGKILL') };
}

/** Serves, prints the address, and exits when the bench has exited. */
export function announce(server: Server): void {
  process.on('disconnect', () => process.exit(0));
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

/** The first group of the first line that matches. */
export async function firstLineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  const seen: string[] = [];
  for await (const line of lines) {
    const match = pattern.exec(line);
    if (!match) {
      seen.push(line);
      continue;
    }
    lines.close();
    child.stdout!.resume();
    return match[1]!;
  }
  throw new Error(`A program ended before it was ready:\n${seen.join('\n')}`);
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  const tooLong = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(tooLong);
}
