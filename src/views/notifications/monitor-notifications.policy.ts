import type { MonitorEvent } from '../../triggers/monitors/monitor/monitor.events.js';
import type { Notification } from './user.events.js';

/** How a monitor stands, as far as its owner is told. */
export type NotifiedMonitor = Readonly<{
  ownerId: string;
  conversationId: string;
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  wakesLeft: number;
  lastCheckedAt: string | null;
  checkCount: number;
  lastError: string | null;
}>;

export const noMonitor: NotifiedMonitor = {
  ownerId: '',
  conversationId: '',
  status: 'active',
  wakesLeft: 0,
  lastCheckedAt: null,
  checkCount: 0,
  lastError: null,
};

export function withStatusChangedBy(standing: NotifiedMonitor, { type, data }: MonitorEvent): NotifiedMonitor {
  switch (type) {
    case 'MonitorCreated': {
      const { ownerId, conversationId, createdAt, terms } = data;
      return { ...standing, ownerId, conversationId, wakesLeft: terms.wakesMax, lastCheckedAt: createdAt };
    }
    case 'MonitorCheckStarted':
      return standing;
    case 'MonitorChecked':
      return { ...standing, lastCheckedAt: data.checkedAt, checkCount: data.check, lastError: data.error };
    case 'MonitorWoke':
      return { ...standing, wakesLeft: standing.wakesLeft - 1 };
    case 'MonitorPaused':
      return { ...standing, status: 'paused' };
    case 'MonitorResumed':
      return { ...standing, status: 'active' };
    case 'MonitorCompleted':
      return { ...standing, status: 'completed' };
    case 'MonitorCancelled':
      return { ...standing, status: 'cancelled' };
  }
}

/** Whether an event is told: checks that find nothing new are not, for there are many; what a match leads to is told by itself. */
export function isMonitorNotified(before: NotifiedMonitor, { type, data }: MonitorEvent): boolean {
  if (type === 'MonitorCheckStarted') return false;
  if (type !== 'MonitorChecked') return true;
  return data.outcome === 'changed' || data.error !== before.lastError;
}

/** What a monitor's owner is told of it. */
export function monitorNotification(monitorId: string, standing: NotifiedMonitor): Notification {
  return {
    type: 'monitor.updated',
    scope: { kind: 'monitor', id: monitorId },
    payload: {
      monitor_id: monitorId,
      status: standing.status,
      wakes_left: standing.wakesLeft,
      last_checked_at: standing.lastCheckedAt,
      conversation_id: standing.conversationId,
      check_count: standing.checkCount,
      last_error: standing.lastError,
    },
  };
}
