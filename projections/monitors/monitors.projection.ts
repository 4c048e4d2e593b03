import { monitorCodec } from '../../src/triggers/monitors/monitor/monitor.codec.js';
import type { MonitorEvent } from '../../src/triggers/monitors/monitor/monitor.events.js';
import { changeIn, type Columns, defineProjection, insertInto } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** The current state of every monitor, and when a worker next has to process it. */
export const monitors = defineProjection<MonitorEvent>({
  name: 'monitors',
  categories: ['monitor'],
  codec: monitorCodec,
  ddl: new URL('./monitors.sql', import.meta.url),

  on: {
    MonitorCreated: ({ data }) =>
      insertInto('monitor', {
        monitor_id: data.monitorId,
        owner_id: data.ownerId,
        conversation_id: data.conversationId,
        agent_id: data.agentId,
        status: 'active',
        definition: asJsonb(data.definition),
        created_at: data.createdAt,
        expires_at: data.definition.expiresAt,
        next_check_at: data.nextCheckAt,
        due_at: data.nextCheckAt,
        last_checked_at: data.createdAt,
      }),

    MonitorCheckStarted: ({ data }) => monitor(data, { due_at: data.leaseUntil }),

    MonitorChecked: ({ data }) => {
      const { outcome, error, check, checkedAt, nextCheckAt } = data;
      const isNew = outcome === 'changed' || outcome === 'matched';
      return monitor(data, {
        next_check_at: nextCheckAt,
        due_at: nextCheckAt,
        check_count: check,
        last_checked_at: checkedAt,
        ...(isNew && { last_changed_at: checkedAt }),
        last_error: error === null ? null : asText(error),
      });
    },

    MonitorFollowUpRequested: ({ data }) =>
      monitor(data, { follow_up_count: data.followUp, last_follow_up_at: data.requestedAt }),

    // A paused monitor still expires at its end.
    MonitorPaused: ({ data: { monitorId, reason } }, sql) => sql`
      update monitor set status = 'paused', paused_reason = ${reason === null ? null : asText(reason)}, due_at = expires_at
      where monitor_id = ${monitorId}`,

    MonitorResumed: ({ data }) => {
      const { nextCheckAt } = data;
      return monitor(data, { status: 'active', paused_reason: null, next_check_at: nextCheckAt, due_at: nextCheckAt });
    },

    MonitorCompleted: ({ data }) => monitor(data, { status: 'completed', due_at: null }),

    MonitorCancelled: ({ data }) => monitor(data, { status: 'cancelled', due_at: null }),
  },
});

const monitor = ({ monitorId }: Readonly<{ monitorId: string }>, values: Columns) =>
  changeIn('monitor', { monitor_id: monitorId }, values);
