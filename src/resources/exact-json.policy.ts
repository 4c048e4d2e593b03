import { JSON_LIMITS, JsonMeter } from '../kernel/bounded-json.js';

const WHOLE = /^-?\d+$/;
/** The fewest digits of a whole number that JavaScript may round. */
const MAY_BE_ROUNDED = /\d{16}/;

/** Whether a text is a whole number that JavaScript would round, for example a 64-bit id. */
export const isBeyondNumbers = (text: string): boolean =>
  MAY_BE_ROUNDED.test(text) && WHOLE.test(text) && !Number.isSafeInteger(Number(text));

/**
 * Parses JSON. A whole number that JavaScript would round becomes the text of its digits, because another number would name another
 * thing. @throws SyntaxError
 */
export function exactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return MAY_BE_ROUNDED.test(text) ? (JSON.parse(withDigitsAsText(text)) as unknown) : value;
}

/** As `exactJson`, for a text of a model or a service. @throws SyntaxError; Rejection past a limit */
export function parseExactJson(text: string, what: string, limits = JSON_LIMITS): unknown {
  new JsonMeter(what, limits).read(Buffer.from(text));
  return exactJson(text);
}

/** @param json valid JSON, so that every quote outside a string begins one that ends */
function withDigitsAsText(json: string): string {
  const pieces: string[] = [];
  for (let at = 0; at < json.length;) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    pieces.push(
      json.slice(at, end).replaceAll(/-?\d[\d.eE+-]*/g, (number) => (isBeyondNumbers(number) ? `"${number}"` : number)),
    );
    at = quote < 0 ? end : endOfString(json, quote);
    pieces.push(json.slice(end, at));
  }
  return pieces.join('');
}

function endOfString(json: string, quote: number): number {
  for (let at = quote + 1; ; at++) {
    if (json[at] === '\\') at++;
    else if (json[at] === '"') return at + 1;
  }
}
