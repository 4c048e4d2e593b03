const KiB = 1024;
const MiB = 1024 * KiB;

/** What one run may take, and how many there may be. */
export type CodeLimits = Readonly<{
  /** Runs at once. */
  concurrentMax: number;
  /** Runs that wait for one of these to end. */
  waitingMax: number;
  /** Of the process of a run, all there is in it. */
  memoryBytesMax: number;
  /** A run asks for less. */
  timeoutMsMax: number;
  /** Of standard output and of standard error. */
  printedBytesMax: number;
  filesMax: number;
  /** Of all files together. */
  fileBytesMax: number;
  tracebackCharactersMax: number;
  /** An interpreter has started by then, also on a machine that is busy. */
  startMsMax: number;
  /** An interpreter that waits for a run is kept so long. */
  idleMs: number;
}>;

export const CODE_LIMITS: CodeLimits = {
  concurrentMax: 2,
  waitingMax: 100,
  memoryBytesMax: 512 * MiB,
  timeoutMsMax: 300_000,
  printedBytesMax: 256 * KiB,
  filesMax: 50,
  fileBytesMax: 50 * MiB,
  tracebackCharactersMax: 8_000,
  startMsMax: 60_000,
  idleMs: 300_000,
};
