import type { QuotaAnswer } from './run-quota.port.js';

/** A headless run that is about to begin; `stream` is where its end is stated. */
export type AdmittedRun = Readonly<{ runId: string; stream: string; ownerId: string; agentId: string | null }>;

/** Asked before a headless run begins: whether the limits of its agent and its owner's quota have room for it. */
export abstract class RunAdmissions {
  /** Counts it as a request of its agent from now on. What was used up to a position of the log counts, however young it is. */
  abstract admit(run: AdmittedRun, upTo?: bigint): Promise<QuotaAnswer>;
}
