import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { ApprovalMode, DeviceId } from '../device/device.events.js';

/** `inv_` and 32 hexadecimal digits, which are derived from the call, so that a call has at most one invocation. */
export type InvocationId = string;

/** Why a command needed an approval or did not need one. */
export type DecisionReason =
  | 'denylist_forced_prompt'
  | 'full_access_passthrough'
  | 'sticky_auto_approve'
  | 'user_approval_required';

/** Who approved a command: a user in the conversation, an allowlist beforehand, or the approval mode of the device. */
export type ApprovedBy = 'user' | 'allowlist' | 'device';

/** The answer of a device before it runs a command. */
export type AckDecision = 'accepted' | 'denied' | 'auto_approved';

/** Why an invocation ended without a report of the device. */
export type GaveUp = 'deadline' | 'stopped' | 'device_revoked';

type About<Data> = Readonly<{ invocationId: InvocationId } & Data>;

/** A command waits for its device until the deadline. After that it is not handed out. */
export type InvocationRequested = Event<
  'InvocationRequested',
  About<{
    deviceId: DeviceId;
    /** The owner of the device. */
    ownerId: string;
    /** The owner of the conversation. */
    userId: string;
    agentId: string | null;
    conversationId: string;
    turnId: string;
    callId: string;
    action: 'run_command';
    command: string;
    commandSha256: string;
    workingDirectory: string;
    timeoutMs: number;
    /** The mode that follows from the device's mode, its patterns and the denylist. */
    approvalMode: ApprovalMode;
    decisionReason: DecisionReason;
    approvedBy: ApprovedBy;
    issuedAt: string;
    deadline: string;
  }>
>;
/** The command is handed out to one session of the device, once. The event is appended before the first byte is sent. */
export type InvocationHandedOut = Event<'InvocationHandedOut', About<{ sessionId: string; handedOutAt: string }>>;
/** The device answered whether it runs the command. */
export type InvocationAcknowledged = Event<
  'InvocationAcknowledged',
  About<{ decision: AckDecision; reason: string | null; acknowledgedAt: string }>
>;
/** A part of the output arrived. Its text is stored outside the log, under the key, until the call is over. */
export type InvocationOutputReceived = Event<
  'InvocationOutputReceived',
  About<{ outputKey: string; keptBytes: number; stdoutBytes: number; stderrBytes: number }>
>;
/** The device reported the end of the command. The digests cover the whole output; they are null if a part of it was not kept. */
export type InvocationFinished = Event<
  'InvocationFinished',
  About<{
    exitCode: number | null;
    durationMs: number | null;
    error: string | null;
    stdoutSha256: string | null;
    stderrSha256: string | null;
    finishedAt: string;
  }>
>;
/** No device received the command, and none will. */
export type InvocationExpired = Event<'InvocationExpired', About<{ reason: GaveUp; expiredAt: string }>>;
/** A device received the command and did not report its end, so its outcome is unknown. */
export type InvocationOutcomeUnknown = Event<'InvocationOutcomeUnknown', About<{ reason: GaveUp; endedAt: string }>>;

export type InvocationEvent =
  | InvocationRequested
  | InvocationHandedOut
  | InvocationAcknowledged
  | InvocationOutputReceived
  | InvocationFinished
  | InvocationExpired
  | InvocationOutcomeUnknown;

export const invocationStream = (id: InvocationId): string => `deviceInvocation-${id}`;

const INVOCATION_ID = /^inv_[0-9a-f]{32}$/;
export const isInvocationId = (text: unknown): text is InvocationId => typeof text === 'string' && INVOCATION_ID.test(text);
