/** What is shorter than this could be any word, and is left alone. */
export const REDACTED_CHARACTERS_MIN = 6;
const REDACTED = '[secret]';

type Redact = (value: unknown) => unknown;

/** Takes secrets out of whatever a tool answers: some servers send back what they were sent, also in other spellings. */
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
  return [secret, inJson, encodeURIComponent(secret.toWellFormed()), base64, base64.replace(/=+$/, '')];
}
