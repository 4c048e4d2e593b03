import { type GuardrailSpan, type Mask, masksOf, withMasks } from '../../../resources/guardrails/guardrail-decisions.policy.js';

type Text = Readonly<{ start: number; end: number }>;

/** The separator between two texts of a value. */
const BETWEEN = '\n';

/**
 * Joins the texts of a JSON value (strings, numbers and optionally keys), so that one check covers all of them, and masks the
 * matches in their places. Keys that this service itself has named are left out.
 */
export class JsonTexts {
  readonly text: string;
  private readonly texts: Text[] = [];

  constructor(
    private readonly value: unknown,
    private readonly withKeys = true,
  ) {
    const parts: string[] = [];
    let length = 0;
    eachText(value, withKeys, (text) => {
      this.texts.push({ start: length, end: length + text.length });
      parts.push(text);
      length += text.length + BETWEEN.length;
    });
    this.text = parts.join(BETWEEN);
  }

  /**
   * The value with the matches in its texts masked. A number with a match becomes a string. Without matches, returns the same
   * value.
   */
  masked(spans: readonly GuardrailSpan[]): unknown {
    const masks = masksOf(spans);
    if (masks.length === 0) return this.value;
    const texts = this.texts.values();
    let first = 0;
    return withTexts(this.value, this.withKeys, (text) => {
      const { start, end } = texts.next().value!;
      while (masks[first] && masks[first]!.end <= start) first++;
      const own: Mask[] = [];
      for (let at = first; masks[at] && masks[at]!.start < end; at++) {
        const { mask, ...place } = masks[at]!;
        own.push({ start: Math.max(place.start, start) - start, end: Math.min(place.end, end) - start, mask });
      }
      return withMasks(text, own);
    });
  }
}

const isText = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

function eachText(value: unknown, withKeys: boolean, see: (text: string) => void): void {
  if (isText(value)) see(String(value));
  else if (Array.isArray(value)) for (const each of value) eachText(each, withKeys, see);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      if (withKeys) see(key);
      eachText(each, withKeys, see);
    }
  }
}

function withTexts(value: unknown, withKeys: boolean, change: (text: string) => string): unknown {
  if (isText(value)) {
    const changed = change(String(value));
    return changed === String(value) ? value : changed;
  }
  if (Array.isArray(value)) return value.map((each) => withTexts(each, withKeys, change));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [withKeys ? change(key) : key, withTexts(each, withKeys, change)]);
  return Object.fromEntries(entries) as unknown;
}
