import { digestOfCommand, denylistLabel, normalForm } from '../device/command.policy.js';
import type { ApprovalMode } from '../device/device.events.js';
import type { ApprovedBy, DecisionReason } from './device-invocation.events.js';

/** The settings of a device that decide which commands run without an approval. */
export type DevicePolicy = Readonly<{ approvalMode: ApprovalMode; patterns: readonly string[] }>;

/** The mode in which a command runs. The digest identifies the command that was decided on. */
export type ApprovalDecision = Readonly<{ mode: ApprovalMode; reason: DecisionReason; commandSha256: string }>;

/** The denylist is checked before the approval mode of the device, and the mode before the patterns. */
export function decideApproval({ approvalMode, patterns }: DevicePolicy, command: string): ApprovalDecision {
  const commandSha256 = digestOfCommand(command);
  if (denylistLabel(command)) return { mode: 'ask', reason: 'denylist_forced_prompt', commandSha256 };
  if (approvalMode === 'full') return { mode: 'full', reason: 'full_access_passthrough', commandSha256 };
  const form = normalForm(command);
  if (form !== undefined && patterns.includes(form)) return { mode: 'full', reason: 'sticky_auto_approve', commandSha256 };
  return { mode: 'ask', reason: 'user_approval_required', commandSha256 };
}

/**
 * Who has approved a command under the current decision; undefined if it may not run. Only a user can approve a command on the
 * denylist.
 */
export function approverOf({ mode, reason }: ApprovalDecision, given: 'user' | 'allowlist' | undefined): ApprovedBy | undefined {
  if (mode === 'full') return given ?? 'device';
  return given === 'allowlist' && reason === 'denylist_forced_prompt' ? undefined : given;
}
