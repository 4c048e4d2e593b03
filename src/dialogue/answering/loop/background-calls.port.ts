import type { CalledTool } from '../../conversation/conversation.events.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { Background } from '../../../resources/tools/toolbox/tool-kind.port.js';

/** The facts of a tool call that a job needs. */
export type LongCall = Readonly<{
  call: CalledTool;
  hasEffects: boolean;
  /** The owner of the conversation. */
  userId: string;
  agentId: string | null;
  conversationId: string;
  turnId: string;
  cause: Cause;
}>;

export type LongWork = (signal: AbortSignal, background?: Background) => Promise<unknown>;

/** Waits for the tool calls of turns, and turns long calls into jobs. */
export abstract class BackgroundCalls {
  /**
   * Resolves to the result of the work, or rejects as the work does. If the work takes long and may become a job, resolves to the
   * notice of the job for the model. The signal ends the work, but not the work of a job.
   */
  abstract run(call: LongCall, signal: AbortSignal, work: LongWork): Promise<unknown>;
}

/** Always waits until the call ends. */
export const WAITING: BackgroundCalls = { run: (_, signal, work) => work(signal) };
