import type { CalledTool } from '../../conversation/conversation.events.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { ToolReport } from '../../../background/jobs/job.events.js';

/** A call of a tool, as far as a job is made of it. */
export type LongCall = Readonly<{
  call: CalledTool;
  hasEffects: boolean;
  /** Whose conversation it is. */
  userId: string;
  agentId: string | null;
  conversationId: string;
  turnId: string;
  cause: Cause;
}>;

/**
 * What a call is told that may go on as a job: `begun` aborts once it does, and how long it may take then, from its beginning.
 * Whatever it reports of how far it has come is shown of the job.
 */
export type Background = Readonly<{ begun: AbortSignal; msMax: number; report: (report: ToolReport) => void }>;

export type LongWork = (signal: AbortSignal, background?: Background) => Promise<unknown>;

/** Where turns wait for the tools they call, for as long as that is worth it. */
export abstract class BackgroundCalls {
  /**
   * Resolves to what the work comes to, or rejects as it does; where that takes long and the call may go on as a job, resolves
   * to what a model is told of the job. The signal ends the work, but not that of a job.
   */
  abstract run(call: LongCall, signal: AbortSignal, work: LongWork): Promise<unknown>;
}

/** Waits to the end. */
export const WAITING: BackgroundCalls = { run: (_, signal, work) => work(signal) };
