import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const KiB = 1024;

/** The resident memory of a process in bytes. Undefined if there is no such process. */
export async function memoryUseOf(pid: number): Promise<number | undefined> {
  try {
    if (process.platform !== 'linux') {
      return KiB * Number((await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])).stdout) || undefined;
    }
    const inUse = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
    return inUse ? KiB * Number(inUse[1]) : undefined;
  } catch {
    return undefined;
  }
}
