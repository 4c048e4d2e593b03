/** The values of the placeholders in the arguments of a watched tool call. */
export type Placeholders = Readonly<{ now: Date; lastCheckedAt: string; lastChangedAt: string | null }>;

const PLACEHOLDER = /\{\{(now|last_checked_at|last_changed_at|last_checked_date)\}\}/g;
export const ARGUMENTS_DEPTH_MAX = 20;

/** Replaces the placeholders in arguments by times in UTC. Values nested deeper than ARGUMENTS_DEPTH_MAX are left unchanged. */
export function filledIn(value: unknown, times: Placeholders, depth = 0): unknown {
  if (typeof value === 'string') return value.replaceAll(PLACEHOLDER, (_, name: string) => textFor(name, times));
  if (depth === ARGUMENTS_DEPTH_MAX || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => filledIn(each, times, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledIn(each, times, depth + 1)]));
}

function textFor(name: string, { now, lastCheckedAt, lastChangedAt }: Placeholders): string {
  switch (name) {
    case 'now':
      return now.toISOString();
    case 'last_checked_at':
      return lastCheckedAt;
    case 'last_changed_at':
      return lastChangedAt ?? lastCheckedAt;
    default:
      return lastCheckedAt.slice(0, 10).replaceAll('-', '/');
  }
}
