import type { QuotaAnswer } from './run-quota.port.js';

/** A headless run that is about to start. `stream` is the stream that will hold its end. */
export type AdmittedRun = Readonly<{ runId: string; stream: string; ownerId: string; agentId: string | null }>;

/** Checks the limits of the agent and the owner's quota before a headless run. */
export abstract class RunAdmissions {
  /** Admits a run and counts it as a request of its agent. All usage up to the log position `upTo` is included. */
  abstract admit(run: AdmittedRun, upTo?: bigint): Promise<QuotaAnswer>;
}
