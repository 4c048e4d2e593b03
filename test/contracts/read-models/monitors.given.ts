import type { MonitorEvent } from '../../../src/triggers/monitors/monitor/monitor.events.js';

export const at = (time: string) => `2026-01-01T${time}:00.000Z`;
export const date = (time: string) => new Date(at(time));
const definition = {
  description: 'Price\0',
  source: { type: 'webpage', url: 'https://shop.example/' },
  check: { type: 'changed' },
  condition: null,
  onMatch: null,
  intervalSeconds: 900,
  followUpsMax: 2,
  expiresAt: at('20:00'),
} as const;
const seen = { hash: 'h', items: [], holds: false, gist: '' };
export const about = (monitorId: string, ownerId = 'ann', conversationId = 'c1') => ({ monitorId, ownerId, conversationId });
export const created = (
  id: string,
  ownerId = 'ann',
  conversationId = 'c1',
  createdAt = at('08:00'),
  agentId: string | null = null,
): MonitorEvent => {
  const data = { ...about(id, ownerId, conversationId), agentId, definition, seen, createdAt, nextCheckAt: at('08:15') };
  return { type: 'MonitorCreated', data };
};
export const checked = (monitorId: string, check: number, outcome: 'changed' | 'unreachable' | 'matched'): MonitorEvent => ({
  type: 'MonitorChecked',
  data: {
    monitorId,
    check,
    outcome,
    error: outcome === 'unreachable' ? 'Away\0' : null,
    usage: null,
    judgeFailures: 0,
    checkedAt: at('08:16'),
    nextCheckAt: at('08:32'),
  },
});
