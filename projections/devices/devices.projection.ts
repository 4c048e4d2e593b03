import { deviceCodec } from '../../src/resources/devices/device/device.codec.js';
import type { DeviceEvent } from '../../src/resources/devices/device/device.events.js';
import { deviceInvocationCodec } from '../../src/resources/devices/invocations/device-invocation.codec.js';
import type { InvocationEvent } from '../../src/resources/devices/invocations/device-invocation.events.js';
import { type Change, changeIn, type Derivation, defineProjection, derive, insertInto } from '../projection.js';
import { asText } from '../text.js';
import { INVOCATIONS_SHOWN_MAX } from './devices.queries.js';

/** The devices that users have paired and the invocations of each. */
export const devices = defineProjection<DeviceEvent | InvocationEvent>({
  name: 'devices',
  version: 2,
  categories: ['device', 'deviceInvocation'],
  codec: { ...deviceCodec, ...deviceInvocationCodec },
  ddl: new URL('./devices.sql', import.meta.url),

  on: {
    DevicePaired: ({ data }) =>
      insertInto('device', {
        device_id: data.deviceId,
        owner_id: data.ownerId,
        name: asText(data.name),
        paired_at: data.pairedAt,
      }),
    DeviceChanged: ({ data: { deviceId, changes } }) =>
      changes.name === undefined ? [] : changeIn('device', { device_id: deviceId }, { name: asText(changes.name) }),

    InvocationRequested: ({ data }) => [
      insertInto('invocation', {
        invocation_id: data.invocationId,
        device_id: data.deviceId,
        owner_id: data.ownerId,
        user_id: data.userId,
        agent_id: data.agentId,
        conversation_id: data.conversationId,
        action: data.action,
        command: asText(data.command),
        command_sha256: data.commandSha256,
        working_dir: asText(data.workingDirectory),
        approval_mode: data.approvalMode,
        decision_reason: data.decisionReason,
        approved_by: data.approvedBy,
        decision: 'requested',
        is_open: true,
        is_waiting: true,
        issued_at: data.issuedAt,
        deadline: data.deadline,
      }),
      derive(SHOWN_INVOCATIONS, data.invocationId),
    ],
    InvocationHandedOut: ({ data }) => change(data.invocationId, { decision: 'dispatched', is_waiting: false }),
    InvocationAcknowledged: ({ data: { invocationId, decision, reason, acknowledgedAt } }) =>
      decision === 'denied'
        ? ended(invocationId, {
            decision,
            finished_at: acknowledgedAt,
            error: reason === null ? 'denied' : asText(reason),
          })
        : change(invocationId, { decision, started_at: acknowledgedAt }),
    InvocationOutputReceived: ({ data }, sql) => sql`
      update invocation
      set stdout_bytes = stdout_bytes + ${data.stdoutBytes}, stderr_bytes = stderr_bytes + ${data.stderrBytes}
      where invocation_id = ${data.invocationId}`,
    InvocationFinished: ({ data }) =>
      ended(data.invocationId, {
        finished_at: data.finishedAt,
        exit_code: data.exitCode,
        duration_ms: data.durationMs,
        stdout_sha256: data.stdoutSha256,
        stderr_sha256: data.stderrSha256,
        error: data.error === null ? null : asText(data.error),
      }),
    InvocationExpired: ({ data: { invocationId, reason, expiredAt } }) =>
      ended(invocationId, { decision: 'expired', is_waiting: false, finished_at: expiredAt, error: reason }),
    InvocationOutcomeUnknown: ({ data: { invocationId, reason, endedAt } }) =>
      ended(invocationId, { decision: 'outcome_unknown', finished_at: endedAt, error: reason }),
  },
});

const change = (invocationId: string, values: Readonly<Record<string, unknown>>) =>
  changeIn('invocation', { invocation_id: invocationId }, values);

const ended = (invocationId: string, values: Readonly<Record<string, unknown>>): readonly Change[] => [
  change(invocationId, { ...values, is_open: false }),
  derive(SHOWN_INVOCATIONS, invocationId),
];

/** Deletes the older invocations of a device that no audit shows any more. The log keeps their events. */
const SHOWN_INVOCATIONS: Derivation = {
  key: 'invocation_id',
  statement: ({ sql, rows, table }) => sql`
    delete from ${table('invocation')} where invocation_id in (
      select old.invocation_id
      from (select distinct device_id from ${table('invocation')} join ${rows} using (invocation_id)) as device, lateral (
        select invocation_id, is_open from ${table('invocation')} as invocation where invocation.device_id = device.device_id
        order by issued_at desc, invocation_id offset ${INVOCATIONS_SHOWN_MAX}
      ) as old
      where not old.is_open)`,
};
