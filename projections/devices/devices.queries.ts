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

/** `allowedMs`: the time from its request to its deadline. */
export type OpenInvocation = Readonly<{ invocationId: string; deadline: Date; allowedMs: number }>;

/** Maximum number of a device's invocations that its audit shows. The read model keeps no older ones, except open ones. */
export const INVOCATIONS_SHOWN_MAX = 200;

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

  /** The ids of the invocations that wait for a device and whose deadline is after a time, oldest first. */
  async waitingFor(deviceId: string, after: Date, max: number): Promise<readonly string[]> {
    const rows = await this.sql`
      select invocation_id from devices.invocation where device_id = ${deviceId} and is_waiting and deadline > ${after}
      order by issued_at, invocation_id limit ${max}`;
    return rows.map((row) => row['invocation_id'] as string);
  }

  /** The open invocations, the earliest deadline first. */
  async open(max: number): Promise<readonly OpenInvocation[]> {
    return this.sql<OpenInvocation[]>`
      select invocation_id as "invocationId", deadline, (extract(epoch from deadline - issued_at) * 1000)::float8 as "allowedMs"
      from devices.invocation where is_open order by deadline, invocation_id limit ${max}`;
  }

  /** The ids of a device's open invocations. */
  async openOf(deviceId: string): Promise<readonly string[]> {
    const rows = await this.sql`select invocation_id from devices.invocation where device_id = ${deviceId} and is_open`;
    return rows.map((row) => row['invocation_id'] as string);
  }

  /** The invocations of a device, the newest first. */
  async auditOf(deviceId: string, max: number): Promise<readonly InvocationRecord[]> {
    return this.sql<InvocationRecord[]>`
      select ${this.columns} from devices.invocation where device_id = ${deviceId} order by issued_at desc, invocation_id limit ${max}`;
  }

  private get columns() {
    return this.sql`invocation_id as "invocationId", device_id as "deviceId", user_id as "userId", agent_id as "agentId",
      conversation_id as "conversationId", action, command, command_sha256 as "commandSha256",
      working_dir as "workingDirectory", approval_mode as "approvalMode", decision,
      decision_reason as "decisionReason", approved_by as "approvedBy", issued_at as "issuedAt", deadline,
      started_at as "startedAt", finished_at as "finishedAt", exit_code::float8 as "exitCode",
      duration_ms::float8 as "durationMs", stdout_sha256 as "stdoutSha256", stderr_sha256 as "stderrSha256",
      stdout_bytes::float8 as "stdoutBytes", stderr_bytes::float8 as "stderrBytes", error`;
  }
}
