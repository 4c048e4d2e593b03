import type { CalledTool, PauseType } from '../../conversation/conversation.events.js';
import { recordOf, type ToolCallRecord } from '../../conversation/tool-call.policy.js';
import { type BackgroundCalls, WAITING } from './background-calls.port.js';

/** Whether somebody is there to be asked about calls, and what that means for them. */
export type ExecutionMode = Readonly<{
  /** Whether a model is offered tools of this kind. */
  offers: (toolName: string) => boolean;
  /** Whether a call that needs an approval was approved beforehand. */
  isApproved: (call: CalledTool) => boolean;
  /** How a call ends on which somebody would have to decide; undefined: it waits for that. */
  refusalOf: (call: CalledTool, pauseType: PauseType) => Readonly<{ record: ToolCallRecord; text: string }> | undefined;
  /** How calls are waited for. */
  calls: BackgroundCalls;
}>;

/** Somebody is there, and is not kept waiting for calls that take long where these do not have to be waited for. */
export const interactive = (calls: BackgroundCalls): ExecutionMode => ({
  offers: () => true,
  isApproved: () => false,
  refusalOf: () => undefined,
  calls,
});

/**
 * What runs at set times or on conditions is not to set up more of its kind by itself, and has no jobs: it would be over, with
 * its result reported, before they are. Its own time is the limit of its calls.
 */
const NEVER_HEADLESS = new Set(['scheduler', 'monitor', 'check_job']);

const REASONS: Readonly<Record<PauseType, string>> = {
  awaiting_approval: "This tool requires approval and is not in the run's tool_allowlist.",
  requires_client_execution: 'Client-side tools cannot run in headless / scheduled runs.',
};

/** Headless: the trigger of the run has approved the calls of these tools. */
export const headless = (toolAllowlist: readonly string[] = []): ExecutionMode => ({
  offers: (toolName) => !NEVER_HEADLESS.has(toolName),
  isApproved: ({ toolId }) => toolAllowlist.includes(toolId),
  refusalOf: (call, pauseType) => {
    const reason = REASONS[pauseType];
    const record = recordOf(call, { status: 'denied', error: reason, error_type: 'tool_not_allowed' });
    return { record, text: `Tool denied (headless): ${reason}` };
  },
  calls: WAITING,
});
