import { type Notification, notificationRule } from '../../../kernel/event-sourcing/notifications.js';
import { monitorCodec } from './monitor.codec.js';
import type { MonitorEvent } from './monitor.events.js';

/** Number of cached states, because the streams of monitors are long. */
const CACHED_MAX = 5_000;

/** The state of a monitor that notifications contain. */
type NotifiedMonitor = Readonly<{
  ownerId: string;
  conversationId: string;
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  followUpsLeft: number;
  lastCheckedAt: string | null;
  checkCount: number;
  lastError: string | null;
}>;

const noMonitor: NotifiedMonitor = {
  ownerId: '',
  conversationId: '',
  status: 'active',
  followUpsLeft: 0,
  lastCheckedAt: null,
  checkCount: 0,
  lastError: null,
};

function withStatusChangedBy(monitor: NotifiedMonitor, { type, data }: MonitorEvent): NotifiedMonitor {
  switch (type) {
    case 'MonitorCreated': {
      const { ownerId, conversationId, createdAt, definition } = data;
      return { ...monitor, ownerId, conversationId, followUpsLeft: definition.followUpsMax, lastCheckedAt: createdAt };
    }
    case 'MonitorCheckStarted':
      return monitor;
    case 'MonitorChecked':
      return { ...monitor, lastCheckedAt: data.checkedAt, checkCount: data.check, lastError: data.error };
    case 'MonitorFollowUpRequested':
      return { ...monitor, followUpsLeft: monitor.followUpsLeft - 1 };
    case 'MonitorPaused':
      return { ...monitor, status: 'paused' };
    case 'MonitorResumed':
      return { ...monitor, status: 'active' };
    case 'MonitorCompleted':
      return { ...monitor, status: 'completed' };
    case 'MonitorCancelled':
      return { ...monitor, status: 'cancelled' };
  }
}

/**
 * Whether an event causes a notification. Checks without news do not, because they are frequent; a match is followed by an event
 * that does.
 */
function isMonitorNotified(before: NotifiedMonitor, { type, data }: MonitorEvent): boolean {
  if (type === 'MonitorCheckStarted') return false;
  if (type !== 'MonitorChecked') return true;
  return data.outcome === 'changed' || data.error !== before.lastError;
}

export type MonitorNotification = Notification<
  'monitor.updated',
  'monitor',
  {
    monitor_id: string;
    status: NotifiedMonitor['status'];
    wakes_left: number;
    last_checked_at: string | null;
    conversation_id: string;
    check_count: number;
    last_error: string | null;
  }
>;

/** The notification for the owner. */
function monitorNotification(monitorId: string, monitor: NotifiedMonitor): MonitorNotification {
  return {
    type: 'monitor.updated',
    scope: { kind: 'monitor', id: monitorId },
    payload: {
      monitor_id: monitorId,
      status: monitor.status,
      wakes_left: monitor.followUpsLeft,
      last_checked_at: monitor.lastCheckedAt,
      conversation_id: monitor.conversationId,
      check_count: monitor.checkCount,
      last_error: monitor.lastError,
    },
  };
}

export const monitorNotifications = [
  notificationRule({
    category: 'monitor',
    codec: monitorCodec,
    // All events are included, so that the cached state has no gaps.
    about: Object.keys(monitorCodec) as MonitorEvent['type'][],
    initial: noMonitor,
    evolve: withStatusChangedBy,
    cachedMax: CACHED_MAX,
    ownerOf: ({ ownerId }) => ownerId,
    noticesOf: (event, before, after) =>
      isMonitorNotified(before, event) ? [{ notification: monitorNotification(event.data.monitorId, after) }] : [],
  }),
];
