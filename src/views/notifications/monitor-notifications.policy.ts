import type { MonitorEvent } from '../../triggers/monitors/monitor/monitor.events.js';
import type { Notification } from './user.events.js';

/** How a monitor stands, as far as its owner is told. */
export type NotifiedMonitor = Readonly<{
  ownerId: string;
  conversationId: string;
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  followUpsLeft: number;
  lastCheckedAt: string | null;
  checkCount: number;
  lastError: string | null;
}>;

export const noMonitor: NotifiedMonitor = {
  ownerId: '',
  conversationId: '',
  status: 'active',
  followUpsLeft: 0,
  lastCheckedAt: null,
  checkCount: 0,
  lastError: null,
};

export function withStatusChangedBy(monitor: NotifiedMonitor, { type, data }: MonitorEvent): NotifiedMonitor {
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
export function isMonitorNotified(before: NotifiedMonitor, { type, data }: MonitorEvent): boolean {
  if (type === 'MonitorCheckStarted') return false;
  if (type !== 'MonitorChecked') return true;
  return data.outcome === 'changed' || data.error !== before.lastError;
}

/** What a monitor's owner is told of it. */
export function monitorNotification(monitorId: string, monitor: NotifiedMonitor): Notification {
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
