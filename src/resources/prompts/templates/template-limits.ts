export type TemplateLimits = Readonly<{
  /** Milliseconds, counted from when a worker receives the template. */
  deadlineMs: number;
  workersMax: number;
  waitingMax: number;
  outputCharactersMax: number;
  workerHeapMb: number;
}>;

export const TEMPLATE_LIMITS: TemplateLimits = {
  deadlineMs: 2_000,
  workersMax: 2,
  waitingMax: 64,
  outputCharactersMax: 1_000_000,
  workerHeapMb: 64,
};
