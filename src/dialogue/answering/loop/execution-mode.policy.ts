import type { CalledTool, PauseType } from '../../conversation/conversation.events.js';
import { deniedRecord, denialFor } from '../../conversation/tool-call.policy.js';
import { type BackgroundCalls, WAITING } from './background-calls.port.js';
import { type CallEnd, deniedHeadless } from './call-ends.policy.js';

/** What a call needs a user for. */
type Needed = PauseType | 'connection_required';

/** Whether somebody is there to be asked about calls, and what that means for them. */
export type ExecutionMode = Readonly<{
  /** Whether a model is offered tools of this kind. */
  offers: (toolName: string) => boolean;
  /** Whether a call that needs an approval was approved beforehand. */
  isApproved: (call: CalledTool) => boolean;
  /** How a call ends that cannot go on without a user; undefined: it goes on as it does with one. */
  refusalOf: (call: CalledTool, needed: Needed) => CallEnd | undefined;
  /** There is no reader whom the agent could ask anything. */
  isHeadless?: true;
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

const NOBODY_APPROVES = 'Nobody can approve calls over this interface.';

/** Somebody is there who may run code of their own, and can approve nothing. */
export const withoutApprovals = (calls: BackgroundCalls): ExecutionMode => ({
  ...interactive(calls),
  refusalOf: (call, needed) =>
    needed === 'awaiting_approval'
      ? { record: deniedRecord(call, null, NOBODY_APPROVES), text: denialFor(NOBODY_APPROVES, null) }
      : undefined,
});

/**
 * What runs at set times or on conditions is not to set up more of its kind by itself, and has no jobs: it would be over, with
 * its result reported, before they are. Its own time is the limit of its calls.
 */
const NEVER_HEADLESS = new Set(['scheduler', 'monitor', 'check_job']);

const REASONS: Readonly<Record<Needed, string>> = {
  awaiting_approval: "This tool requires approval and is not in the run's tool_allowlist.",
  requires_client_execution: 'Client-side tools cannot run in headless / scheduled runs.',
  connection_required: 'The connection of this tool needs signing in again, which is not possible in headless / scheduled runs.',
};

/** Headless: the trigger of the run has approved the calls of these tools. */
export const headless = (toolAllowlist: readonly string[] = []): ExecutionMode => ({
  offers: (toolName) => !NEVER_HEADLESS.has(toolName),
  isApproved: ({ toolId }) => toolAllowlist.includes(toolId),
  refusalOf: (call, needed) =>
    deniedHeadless(call, REASONS[needed], needed === 'connection_required' ? needed : 'tool_not_allowed'),
  isHeadless: true,
  calls: WAITING,
});
