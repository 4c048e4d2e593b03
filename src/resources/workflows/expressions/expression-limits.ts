import type { ThreadLimits } from '../../../platform/sandbox/bounded-threads.js';

export type ExpressionLimits = ThreadLimits & Readonly<{ resultCharactersMax: number }>;

export const EXPRESSION_LIMITS: ExpressionLimits = {
  deadlineMs: 1_000,
  workersMax: 2,
  waitingMax: 256,
  workerHeapMb: 64,
  resultCharactersMax: 1_000_000,
};
