import { Rejection } from '../../../kernel/rejection.js';

/** Shorter secrets are not replaced, because they may occur in ordinary text. */
export const REDACTED_CHARACTERS_MIN = 6;
const REDACTED = '[secret]';

export type Redact = (value: unknown) => unknown;

/** Returns a function that removes secrets, also in other encodings, from results. Some servers send back what they received. */
export function redaction(secrets: Readonly<Record<string, string>>): Redact {
  const spellings = [...new Set(Object.values(secrets).flatMap(spellingsOf))].sort((a, b) => b.length - a.length);
  if (spellings.length === 0) return (value) => value;
  const inText = (text: string) => spellings.reduce((left, spelling) => left.replaceAll(spelling, REDACTED), text);
  const redact: Redact = (value) => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return value.map(redact);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [inText(name), redact(each)]));
  };
  return redact;
}

function spellingsOf(secret: string): readonly string[] {
  if (secret.length < REDACTED_CHARACTERS_MIN) return [];
  const inJson = JSON.stringify(secret).slice(1, -1);
  const base64 = Buffer.from(secret).toString('base64');
  const inForm = new URLSearchParams({ '': secret }).toString().slice(1);
  return [secret, inJson, encodeURIComponent(secret.toWellFormed()), inForm, base64, base64.replace(/={1,2}$/, '')];
}

const CAUSES_MAX = 5;

/** The same error and its causes, with the secrets removed from their texts. */
export function redactedError(thrown: unknown, redact: Redact): unknown {
  for (let error = thrown, depth = 0; isErrorLike(error) && depth < CAUSES_MAX; error = error.cause, depth++) {
    const { message, stack } = error;
    // Some errors of the platform have only an inherited message, to which nothing can be assigned.
    Object.defineProperty(error, 'message', { value: redact(message), configurable: true, writable: true });
    Object.defineProperty(error, 'stack', { value: redact(stack), configurable: true, writable: true });
  }
  if (!(thrown instanceof Rejection)) return thrown;
  const { code, message, details } = thrown;
  return new Rejection(code, message, redact(details) as typeof details);
}

const isErrorLike = (thrown: unknown): thrown is Pick<Error, 'message' | 'stack' | 'cause'> =>
  typeof thrown === 'object' && thrown !== null && 'message' in thrown;
