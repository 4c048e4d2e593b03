import { createHash } from 'node:crypto';

const MINUTE_MS = 60_000;
const HALF_HOUR_MS = 30 * MINUTE_MS;
/** Checks of the same interval are spread over a tenth of it, and over no more than this. */
const SPREAD_MS_MAX = 5 * MINUTE_MS;

export type CheckTiming = Readonly<{ monitorId: string; checkNumber: number; intervalSeconds: number; expiresAt: string }>;

/** Where between 0 and 1 a check falls: always the same for the same check. */
function fractionOf(monitorId: string, checkNumber: number): number {
  const digest = createHash('sha256').update(`${monitorId} ${checkNumber}`).digest();
  return digest.readUInt32BE(0) / 2 ** 32;
}

/**
 * When a monitor is checked next, an interval after a time: a little later for each check, so that monitors which were made
 * together do not look together, and never within a minute of the full or half hour, when everybody's clocks ring. At the
 * latest when it expires.
 */
export function nextCheckAt({ monitorId, checkNumber, intervalSeconds, expiresAt }: CheckTiming, from: Date): string {
  const fraction = fractionOf(monitorId, checkNumber);
  const intervalMs = intervalSeconds * 1000;
  const spread = from.getTime() + intervalMs + fraction * Math.min(intervalMs / 10, SPREAD_MS_MAX);
  const afterMark = spread % HALF_HOUR_MS;
  const isNear = afterMark < MINUTE_MS || HALF_HOUR_MS - afterMark < MINUTE_MS;
  const mark = Math.round(spread / HALF_HOUR_MS) * HALF_HOUR_MS;
  const at = new Date(isNear ? mark + MINUTE_MS * (1 + fraction) : spread).toISOString();
  return at < expiresAt ? at : expiresAt;
}
