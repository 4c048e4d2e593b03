import { type Notification, notificationRule } from '../../../kernel/event-sourcing/notifications.js';
import { monitorCodec } from './monitor.codec.js';
import type { MonitorEvent } from './monitor.events.js';

/** Monitors whose status is cached between two events: their streams are long. */
const CACHED_MAX = 5_000;

/** The status of a monitor, as far as its owner is notified of it. */
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

/** Whether an event is told: checks that find nothing new are not, for there are many; what a match leads to is told by itself. */
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

/** What a monitor's owner is told of it. */
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
    // All of them, so that the cached status has no gaps.
    about: Object.keys(monitorCodec) as MonitorEvent['type'][],
    initial: noMonitor,
    evolve: withStatusChangedBy,
    cachedMax: CACHED_MAX,
    ownerOf: ({ ownerId }) => ownerId,
    noticesOf: (event, before, after) =>
      isMonitorNotified(before, event) ? [{ notification: monitorNotification(event.data.monitorId, after) }] : [],
  }),
];
