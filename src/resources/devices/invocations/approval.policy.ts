import { digestOfCommand, denylistLabel, normalForm } from '../device/command.policy.js';
import type { ApprovalMode } from '../device/device.events.js';
import type { ApprovedBy, DecisionReason } from './device-invocation.events.js';

/** What a device lets run without a question. */
export type DevicePolicy = Readonly<{ approvalMode: ApprovalMode; patterns: readonly string[] }>;

/** The mode in which a command runs. The digest says which command was judged. */
export type ApprovalDecision = Readonly<{ mode: ApprovalMode; reason: DecisionReason; commandSha256: string }>;

/** The denylist goes before everything, then the mode of the device, then its patterns. */
export function decideApproval({ approvalMode, patterns }: DevicePolicy, command: string): ApprovalDecision {
  const commandSha256 = digestOfCommand(command);
  if (denylistLabel(command)) return { mode: 'ask', reason: 'denylist_forced_prompt', commandSha256 };
  if (approvalMode === 'full') return { mode: 'full', reason: 'full_access_passthrough', commandSha256 };
  const form = normalForm(command);
  if (form !== undefined && patterns.includes(form)) return { mode: 'full', reason: 'sticky_auto_approve', commandSha256 };
  return { mode: 'ask', reason: 'user_approval_required', commandSha256 };
}

/** Who has approved a command, as the device wants it now; undefined: it may not run. Only a user approves what is on the denylist. */
export function approverOf({ mode, reason }: ApprovalDecision, given: 'user' | 'allowlist' | undefined): ApprovedBy | undefined {
  if (mode === 'full') return given ?? 'device';
  return given === 'allowlist' && reason === 'denylist_forced_prompt' ? undefined : given;
}
