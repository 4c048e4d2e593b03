import type { CalledTool } from '../../conversation/conversation.events.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { Background } from '../../../resources/tools/toolbox/tool-kind.port.js';

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

export type LongWork = (signal: AbortSignal, background?: Background) => Promise<unknown>;

/** Where turns wait for the tools they call, for as long as that is worth it. */
export abstract class BackgroundCalls {
  /**
   * Resolves to the result of the work, or rejects as the work does. Where the work takes long and may become a job, resolves to
   * the model's notice of the job. The signal ends the work, but not that of a job.
   */
  abstract run(call: LongCall, signal: AbortSignal, work: LongWork): Promise<unknown>;
}

/** Waits to the end. */
export const WAITING: BackgroundCalls = { run: (_, signal, work) => work(signal) };
