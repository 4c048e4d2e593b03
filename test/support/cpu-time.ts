/** The CPU time of some work in milliseconds, which other processes of a busy machine hardly change. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1000;
}
