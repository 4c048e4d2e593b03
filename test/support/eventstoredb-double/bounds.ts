import type { LogRecord } from './log.js';

/** What a stream's metadata hides: everything before a revision, all but the newest, all past an age. */
export type Bounds = Readonly<{ before: bigint; count: number; ageSeconds: number }>;

/** The largest revision there is; as `$tb` it means that the stream was deleted. */
export const UNBOUNDED = 9_223_372_036_854_775_807n;

export const NO_BOUNDS: Bounds = { before: 0n, count: Infinity, ageSeconds: Infinity };

export const ONLY_NEWEST: Bounds = { ...NO_BOUNDS, count: 1 };

export const metastreamOf = (stream: string): string => `$$${stream}`;
export const isMetastream = (stream: string): boolean => stream.startsWith('$$');
/** The stream whose metadata a stream holds, with which it ends for good; of another stream itself. */
export const originalOf = (stream: string): string => (isMetastream(stream) ? stream.slice(2) : stream);

/** Metadata with a number that is too large bounds nothing, like any that cannot be read. */
export function boundsIn(json: Uint8Array): Bounds {
  try {
    const text = Buffer.from(json).toString();
    const { $maxCount, $maxAge } = JSON.parse(text) as Record<string, unknown>;
    const before = BigInt(/"\$tb"\s*:\s*(\d+)/.exec(text)?.[1] ?? 0);
    if (before > UNBOUNDED) return NO_BOUNDS;
    return {
      before,
      count: typeof $maxCount === 'number' ? $maxCount : Infinity,
      ageSeconds: typeof $maxAge === 'number' ? $maxAge : Infinity,
    };
  } catch {
    return NO_BOUNDS;
  }
}

export function bounded(records: readonly LogRecord[], { before, count, ageSeconds }: Bounds): readonly LogRecord[] {
  const first = Math.max(Number(before), count === Infinity ? 0 : records.length - count);
  const kept = first > 0 ? records.slice(first) : records;
  if (ageSeconds === Infinity) return kept;
  const oldest = BigInt(Date.now() - ageSeconds * 1000) * 10_000n;
  return kept.filter(({ created }) => created >= oldest);
}
