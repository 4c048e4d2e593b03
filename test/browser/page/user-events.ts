import type { Api } from './api.js';
import { drain } from './event-stream.js';

export type UserEvent = Readonly<{
  type: string;
  scope: Readonly<{ kind?: string; id?: string }>;
  payload: Readonly<Record<string, unknown>>;
}>;

const BACKOFF_MS = [0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
const UNAUTHORIZED_MAX = 3;

/** Holds `/api/events` open while the page exists, and reconnects with its cursor whenever the connection ends. */
export async function followUserEvents(api: Api, take: (event: UserEvent) => void): Promise<void> {
  let cursor: string | null = null;
  let attempt = 0;
  for (let unauthorized = 0; unauthorized < UNAUTHORIZED_MAX;) {
    await new Promise((resolve) => setTimeout(resolve, BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length - 1)]));
    const response = await api.events('/api/events', cursor).catch(() => undefined);
    if (!response?.ok || !response.body) {
      if (response?.status === 401) unauthorized++;
      attempt = response?.status === 429 ? Math.max(attempt, 4) : attempt + 1;
      continue;
    }
    unauthorized = attempt = 0;
    const reading = drain(response.body, ({ id, data }) => {
      if (id !== undefined) cursor = id === '' ? null : id;
      if (data === undefined || data.trim() === '') return;
      const event = JSON.parse(data) as UserEvent;
      if (event.type === 'backlog.truncated' && id === undefined) cursor = null;
      take(event);
    });
    await reading.catch(() => undefined);
  }
}
