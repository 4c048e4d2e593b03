type Bounds = Readonly<{ fallback: number; min: number; max: number }>;

/** A whole number of a query, or the bound that it is past. What is no number counts as not said. */
export function clampedNumber(text: unknown, { fallback, min, max }: Bounds): number {
  const number = typeof text === 'string' && text.trim() !== '' ? Number(text) : NaN;
  return Number.isNaN(number) ? fallback : Math.min(max, Math.max(min, Math.trunc(number)));
}
