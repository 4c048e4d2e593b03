type Bounds = Readonly<{ fallback: number; min: number; max: number }>;

/** An integer from a query, clamped to its bounds. Invalid numbers are replaced by the fallback. */
export function clampedNumber(text: unknown, { fallback, min, max }: Bounds): number {
  const number = typeof text === 'string' && text.trim() !== '' ? Number(text) : NaN;
  return Number.isNaN(number) ? fallback : Math.min(max, Math.max(min, Math.trunc(number)));
}
