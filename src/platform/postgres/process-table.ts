import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export type Process = Readonly<{ pid: number; command: string }>;

const fromProc = process.platform === 'linux';

/** The start time of a process, in the operating system's notation; undefined if there is no such process. */
export function startOf(pid: number): string | undefined {
  try {
    if (!fromProc) return ps('-o', 'lstart=', '-p', String(pid)).trim() || undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain spaces and parentheses. The start time is the 20th field after it.
    const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return afterName[0] === 'Z'
      ? undefined
      : `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${afterName[19]}`;
  } catch {
    return undefined;
  }
}

/** The running processes whose command line contains a text. */
export function processesWith(text: string): Process[] {
  const all = fromProc ? procEntries() : psEntries();
  return all.filter(({ pid, command }) => pid !== process.pid && command.includes(text));
}

function procEntries(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
    } catch {
      return []; // It ended between the listing and the reading.
    }
  });
}

function psEntries(): Process[] {
  return ps('-axo', 'pid=,command=')
    .split('\n')
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line.trim().replace(/^\d+\s+/, '') }))
    .filter(({ pid }) => pid > 0);
}

const ps = (...args: string[]): string => execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
