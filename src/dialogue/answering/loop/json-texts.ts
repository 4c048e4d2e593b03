import { type GuardrailSpan, maskSpans } from '../../../resources/guardrails/guardrail-decisions.policy.js';

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
    const redacting = spans.filter(({ action }) => action === 'redact');
    if (redacting.length === 0) return this.value;
    let next = 0;
    return withTexts(this.value, this.withKeys, (text) => maskedText(text, this.texts[next++]!, redacting));
  }
}

function maskedText(text: string, { start, end }: Text, spans: readonly GuardrailSpan[]): string {
  const own = spans.filter((span) => span.start < end && span.end > start);
  const within = own.map((span) => ({
    ...span,
    start: Math.max(span.start, start) - start,
    end: Math.min(span.end, end) - start,
  }));
  return maskSpans(text, within);
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
