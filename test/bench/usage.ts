import { readdir, readFile } from 'node:fs/promises';

/** What processes have used so far, and use now. Unknown on a system without /proc. */
export type Usage = Readonly<{ cpuMs: number; rssBytes: number }>;

const TICK_MS = 10;
const PAGE_BYTES = 4096;

export async function usageOf(pids: readonly number[]): Promise<Usage> {
  const each = await Promise.all(pids.map(usageOfOne));
  return {
    cpuMs: each.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    rssBytes: each.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
  };
}

type UsageOfService = Readonly<{ service: Usage; postgres: Usage }>;

/** The CPU time that a service and its database have used in between. It does not depend on how busy the machine is. */
export const processorMsSince = (before: UsageOfService, after: UsageOfService): number =>
  after.service.cpuMs - before.service.cpuMs + after.postgres.cpuMs - before.postgres.cpuMs;

/** The fields of /proc/<pid>/stat after the name, which may contain anything and ends with the last parenthesis. */
async function statOf(pid: number): Promise<string[] | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function usageOfOne(pid: number): Promise<Usage> {
  const stat = await statOf(pid);
  if (!stat) return { cpuMs: NaN, rssBytes: NaN };
  return { cpuMs: (Number(stat[11]) + Number(stat[12])) * TICK_MS, rssBytes: Number(stat[21]) * PAGE_BYTES };
}

/** A process, first, and all its descendants. */
export async function withDescendants(pid: number): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const all = entries.map(Number).filter((each) => each > 0);
  const parents = new Map(await Promise.all(all.map(async (each) => [each, Number((await statOf(each))?.[1])] as const)));
  const found = [pid];
  for (const each of found) found.push(...all.filter((other) => parents.get(other) === each));
  return found;
}
