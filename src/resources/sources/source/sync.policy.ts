export const SYNC_FREQUENCIES = ['never', 'daily', 'weekly', 'monthly'] as const;
export type SyncFrequency = (typeof SYNC_FREQUENCIES)[number];

const DAY_MS = 24 * 60 * 60 * 1000;

/** A month is 30 days, so that all periods have the same length. */
const PERIODS_MS: Readonly<Record<SyncFrequency, number | null>> = {
  never: null,
  daily: DAY_MS,
  weekly: 7 * DAY_MS,
  monthly: 30 * DAY_MS,
};

/** The first time after `now` that is a whole number of periods after `since`. Times that have passed are skipped. */
export function nextSyncAfter(frequency: SyncFrequency, since: string, now: Date): string | null {
  const period = PERIODS_MS[frequency];
  if (period === null) return null;
  const passed = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / period));
  return new Date(Date.parse(since) + (passed + 1) * period).toISOString();
}
