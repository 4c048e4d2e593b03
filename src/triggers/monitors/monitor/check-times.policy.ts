import { createHash } from 'node:crypto';

const MINUTE_MS = 60_000;
const HALF_HOUR_MS = 30 * MINUTE_MS;
/** Checks are delayed by up to a tenth of their interval, but at most by this. */
const SPREAD_MS_MAX = 5 * MINUTE_MS;

export type CheckTiming = Readonly<{ monitorId: string; checkNumber: number; intervalSeconds: number; expiresAt: string }>;

/** A number from 0 up to 1 for a check, always the same for the same check. */
function fractionOf(monitorId: string, checkNumber: number): number {
  const digest = createHash('sha256').update(`${monitorId} ${checkNumber}`).digest();
  return digest.readUInt32BE(0) / 2 ** 32;
}

/**
 * The time of the next check, at least one interval after `from`. A delay that differs between checks spreads monitors that were
 * created together. Checks avoid the minutes around every full and half hour, when servers are busy with other scheduled
 * requests. The result is at most `expiresAt`.
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
