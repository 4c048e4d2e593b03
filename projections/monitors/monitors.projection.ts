import { monitorCodec } from '../../src/monitors/monitor.codec.js';
import type { MonitorEvent } from '../../src/monitors/monitor.events.js';
import type { Recorded } from '../../src/kernel/events.js';
import { changeIn, type Columns, defineProjection, insertInto, type Statement } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** Every monitor as it stands, when somebody next has to look after it, and what its conversation was told of it. */
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
        terms: asJsonb(data.terms),
        created_at: data.createdAt,
        expires_at: data.terms.expiresAt,
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

    MonitorWoke: (event) => [
      monitor(event.data, { wake_count: event.data.wake, last_woken_at: event.data.wokeAt }),
      news(event, { kind: 'matched', text: asText(event.data.text), at: event.data.wokeAt }),
    ],

    // It still ends at its end.
    MonitorPaused: (event, sql) => {
      const { monitorId, reason, pausedAt } = event.data;
      const text = reason === null ? null : asText(reason);
      const row: Statement = sql`
        update monitor set status = 'paused', paused_reason = ${text}, due_at = expires_at where monitor_id = ${monitorId}`;
      return reason === null ? row : [row, news(event, { kind: 'paused', text, at: pausedAt })];
    },

    MonitorResumed: ({ data }) => {
      const { nextCheckAt } = data;
      return monitor(data, { status: 'active', paused_reason: null, next_check_at: nextCheckAt, due_at: nextCheckAt });
    },

    MonitorCompleted: (event) => {
      const { reason, completedAt } = event.data;
      const row = monitor(event.data, { status: 'completed', due_at: null });
      return reason === 'expired' ? [row, news(event, { kind: 'expired', text: null, at: completedAt })] : row;
    },

    MonitorCancelled: ({ data }) => monitor(data, { status: 'cancelled', due_at: null }),
  },
});

const monitor = ({ monitorId }: Readonly<{ monitorId: string }>, values: Columns) =>
  changeIn('monitor', { monitor_id: monitorId }, values);

const news = ({ data, revision }: Recorded<Extract<MonitorEvent, { data: { ownerId: string } }>>, values: Columns) =>
  insertInto('news', { monitor_id: data.monitorId, revision, owner_id: data.ownerId, ...values });
