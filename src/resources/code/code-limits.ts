const KiB = 1024;
const MiB = 1024 * KiB;

/** The limits of one run, and the number of runs. */
export type CodeLimits = Readonly<{
  /** Concurrent runs. */
  concurrentMax: number;
  /** Runs that wait for a concurrent run to end. Past it, the newest run of the owner with the most is refused. */
  waitingMax: number;
  /** The whole memory of a run's process, with Node and the interpreter. */
  memoryBytesMax: number;
  /** The maximum timeout that a run may ask for. */
  timeoutMsMax: number;
  /** Bytes of standard output, and as many of standard error. */
  printedBytesMax: number;
  filesMax: number;
  /** Bytes of all files together. */
  fileBytesMax: number;
  tracebackCharactersMax: number;
  /** The time in which an interpreter has to start, also on a busy machine. */
  startMsMax: number;
  /** The time after which a spare interpreter without a run is stopped. */
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
