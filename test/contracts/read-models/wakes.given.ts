import type { WakesEvent } from '../../../src/background/follow-ups/wakes.events.js';
import type { WakeSource } from '../../../src/background/follow-ups/wakes.port.js';

export const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
export const requested = (
  conversationId: string,
  wakeId: string,
  more: { ownerId?: string; source?: WakeSource; text?: string } = {},
): WakesEvent => ({
  type: 'WakeRequested',
  data: {
    conversationId,
    wakeId,
    ownerId: 'ann',
    source: 'job',
    refId: `ref ${wakeId}`,
    dedupeKey: `key ${wakeId}`,
    text: 'It is done.',
    ...more,
  },
});
export const gathered = (conversationId: string, turnId: string, ...wakeIds: string[]): WakesEvent => ({
  type: 'WakesGathered',
  data: { conversationId, turnId, wakeIds },
});
