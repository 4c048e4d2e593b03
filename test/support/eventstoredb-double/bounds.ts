import type { LogRecord } from './log.js';

/** What a stream's metadata hides: events before a revision, all but the newest `count`, and events beyond an age. */
export type Bounds = Readonly<{ before: bigint; count: number; ageSeconds: number }>;

/** The largest revision. As `$tb` it means that the stream was deleted. */
export const UNBOUNDED = 9_223_372_036_854_775_807n;

export const NO_BOUNDS: Bounds = { before: 0n, count: Infinity, ageSeconds: Infinity };

export const ONLY_NEWEST: Bounds = { ...NO_BOUNDS, count: 1 };

export const metastreamOf = (stream: string): string => `$$${stream}`;
export const isMetastream = (stream: string): boolean => stream.startsWith('$$');
/** The stream that a metadata stream describes, and with which it ends. Any other stream stands for itself. */
export const originalOf = (stream: string): string => (isMetastream(stream) ? stream.slice(2) : stream);

/** The bounds in a stream's metadata. A number that is too large sets no bounds, like metadata that cannot be parsed. */
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
