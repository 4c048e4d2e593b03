import type { Row } from 'postgres';
import { Queries } from '../read-models.js';

/** An invocation that ran or was requested on a device, for its owner's audit. */
export type InvocationRecord = Readonly<{
  invocationId: string;
  deviceId: string;
  userId: string;
  agentId: string | null;
  conversationId: string;
  action: string;
  command: string;
  commandSha256: string;
  workingDirectory: string;
  approvalMode: string;
  decision: string;
  decisionReason: string;
  approvedBy: string;
  issuedAt: Date;
  deadline: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  exitCode: number | null;
  durationMs: number | null;
  stdoutSha256: string | null;
  stderrSha256: string | null;
  stdoutBytes: number;
  stderrBytes: number;
  error: string | null;
}>;

export class DeviceQueries extends Queries {
  /** The ids of the devices that a user has paired, including revoked ones, oldest first. */
  async ownedBy(ownerId: string): Promise<readonly string[]> {
    const rows = await this.sql`
      select device_id from devices.device where owner_id = ${ownerId} order by paired_at, device_id`;
    return rows.map((row) => row['device_id'] as string);
  }

  async hasName(ownerId: string, name: string): Promise<boolean> {
    const rows = await this.sql`select 1 from devices.device where owner_id = ${ownerId} and name = ${name} limit 1`;
    return rows.length > 0;
  }

  /** The ids of the invocations that wait for a device, oldest first. */
  async waitingFor(deviceId: string, now: Date, max: number): Promise<readonly string[]> {
    const rows = await this.sql`
      select invocation_id from devices.invocation where device_id = ${deviceId} and is_waiting and deadline > ${now}
      order by issued_at, invocation_id limit ${max}`;
    return rows.map((row) => row['invocation_id'] as string);
  }

  /** The ids of open invocations past their deadline, the earliest deadline first. */
  async overdue(now: Date, max: number): Promise<readonly string[]> {
    const rows = await this.sql`
      select invocation_id from devices.invocation where is_open and deadline <= ${now} order by deadline limit ${max}`;
    return rows.map((row) => row['invocation_id'] as string);
  }

  /** The ids of a device's open invocations. */
  async openOf(deviceId: string): Promise<readonly string[]> {
    const rows = await this.sql`select invocation_id from devices.invocation where device_id = ${deviceId} and is_open`;
    return rows.map((row) => row['invocation_id'] as string);
  }

  /** The invocations of a device, the newest first. */
  async auditOf(deviceId: string, max: number): Promise<readonly InvocationRecord[]> {
    const rows = await this.sql`
      select * from devices.invocation where device_id = ${deviceId} order by issued_at desc, invocation_id limit ${max}`;
    return rows.map(asRecord);
  }
}

const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

const asRecord = (row: Row): InvocationRecord => ({
  invocationId: row['invocation_id'] as string,
  deviceId: row['device_id'] as string,
  userId: row['user_id'] as string,
  agentId: row['agent_id'] as string | null,
  conversationId: row['conversation_id'] as string,
  action: row['action'] as string,
  command: row['command'] as string,
  commandSha256: row['command_sha256'] as string,
  workingDirectory: row['working_dir'] as string,
  approvalMode: row['approval_mode'] as string,
  decision: row['decision'] as string,
  decisionReason: row['decision_reason'] as string,
  approvedBy: row['approved_by'] as string,
  issuedAt: row['issued_at'] as Date,
  deadline: row['deadline'] as Date,
  startedAt: row['started_at'] as Date | null,
  finishedAt: row['finished_at'] as Date | null,
  exitCode: numberOrNull(row['exit_code']),
  durationMs: numberOrNull(row['duration_ms']),
  stdoutSha256: row['stdout_sha256'] as string | null,
  stderrSha256: row['stderr_sha256'] as string | null,
  stdoutBytes: Number(row['stdout_bytes']),
  stderrBytes: Number(row['stderr_bytes']),
  error: row['error'] as string | null,
});
