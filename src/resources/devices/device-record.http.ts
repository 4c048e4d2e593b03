import type { InvocationRecord } from '../../../projections/devices/devices.queries.js';
import type { Device } from './device/device.decider.js';

/** A device as the API shows it to its owner and to the device itself. */
export const deviceRecord = ({ id, status, name, description, approvalMode, paired, revokedAt }: Device, lastSeen?: Date) => ({
  id,
  name,
  hostname: paired!.machine.hostname,
  os: paired!.machine.os,
  arch: paired!.machine.arch,
  cli_version: paired!.machine.cliVersion,
  approval_mode: approvalMode,
  description,
  status: status === 'revoked' ? 'revoked' : 'active',
  paired_at: paired!.pairedAt,
  last_seen_at: lastSeen?.toISOString() ?? null,
  revoked_at: revokedAt,
});

/** An entry of the audit list that the owner of a device sees. */
export const auditEntry = (ownerId: string, each: InvocationRecord) => ({
  id: each.invocationId,
  device_id: each.deviceId,
  user_id: ownerId,
  agent_id: each.agentId,
  conversation_id: each.conversationId,
  invocation_id: each.invocationId,
  action: each.action,
  command: each.command,
  command_sha256: each.commandSha256,
  working_dir: each.workingDirectory,
  approval_mode: each.approvalMode,
  approved_by: each.approvedBy === 'user' ? `user:${each.userId}` : each.approvedBy,
  decision: each.decision,
  decision_reason: each.decisionReason,
  issued_at: each.issuedAt.toISOString(),
  started_at: each.startedAt?.toISOString() ?? null,
  finished_at: each.finishedAt?.toISOString() ?? null,
  exit_code: each.exitCode,
  duration_ms: each.durationMs,
  stdout_sha256: each.stdoutSha256,
  stderr_sha256: each.stderrSha256,
  stdout_bytes: each.stdoutBytes,
  stderr_bytes: each.stderrBytes,
  error: each.error,
  created_at: each.issuedAt.toISOString(),
});
