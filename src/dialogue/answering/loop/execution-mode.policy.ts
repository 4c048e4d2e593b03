import type { CalledTool, PauseType } from '../../conversation/conversation.events.js';
import { deniedRecord, denialFor } from '../../conversation/tool-call.policy.js';
import { type BackgroundCalls, WAITING } from './background-calls.port.js';
import { type CallEnd, deniedHeadless } from './call-ends.policy.js';

/** The reason why a call needs a user. */
type Needed = PauseType | 'connection_required';

/** How calls are handled, depending on whether a user can decide on them. */
export type ExecutionMode = Readonly<{
  /** Whether the model is offered tools of this kind. */
  offers: (toolName: string) => boolean;
  /** Whether a call that needs an approval was approved beforehand. */
  isApproved: (call: CalledTool) => boolean;
  /** The end of a call that would need a user; undefined if the call may wait for the user. */
  refusalOf: (call: CalledTool, needed: Needed) => CallEnd | undefined;
  /** Set if no reader can answer a question of the agent. */
  isHeadless?: true;
  /** How the turn waits for its calls. */
  calls: BackgroundCalls;
}>;

/** A user is present. Long calls become jobs where that is possible, so that the user does not wait for them. */
export const interactive = (calls: BackgroundCalls): ExecutionMode => ({
  offers: () => true,
  isApproved: () => false,
  refusalOf: () => undefined,
  calls,
});

const NOBODY_APPROVES = 'Nobody can approve calls over this interface.';

/**
 * Workflows and research wait for their calls, because they would go on without the result of a job, and the follow-up of the job
 * would run the whole workflow or research again.
 */
export const withoutJobs = (mode: ExecutionMode): ExecutionMode => ({
  ...mode,
  offers: (toolName) => toolName !== 'check_job' && mode.offers(toolName),
  calls: WAITING,
});

/**
 * A caller over another protocol, who can run client-side tools but can neither approve calls nor read the follow-up of a job. The
 * turn waits for its calls.
 */
export const overDialect: ExecutionMode = withoutJobs({
  ...interactive(WAITING),
  refusalOf: (call, needed) =>
    needed === 'awaiting_approval'
      ? { record: deniedRecord(call, null, NOBODY_APPROVES), text: denialFor(NOBODY_APPROVES, null) }
      : undefined,
});

/**
 * Kinds of tools that headless runs do not get. A scheduled or triggered run must not create further schedules or monitors. It
 * has no jobs, because it would end and report its result before they end; its time limit is the limit of its calls.
 */
const NEVER_HEADLESS = new Set(['scheduler', 'monitor', 'check_job']);

const REASONS: Readonly<Record<Needed, string>> = {
  awaiting_approval: "This tool requires approval and is not in the run's tool_allowlist.",
  requires_client_execution: 'Client-side tools cannot run in headless / scheduled runs.',
  connection_required: 'The connection of this tool needs signing in again, which is not possible in headless / scheduled runs.',
};

/** No user is present. The trigger of the run has approved the calls of the listed tool ids. */
export const headless = (toolAllowlist: readonly string[] = []): ExecutionMode => ({
  offers: (toolName) => !NEVER_HEADLESS.has(toolName),
  isApproved: ({ toolId }) => toolAllowlist.includes(toolId),
  refusalOf: (call, needed) =>
    deniedHeadless(call, REASONS[needed], needed === 'connection_required' ? needed : 'tool_not_allowed'),
  isHeadless: true,
  calls: WAITING,
});
