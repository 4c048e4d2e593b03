import { createHash } from 'node:crypto';

/** The server refuses command lines over 4 KiB, so longer names are replaced by their hash. */
const NAME_LENGTH_MAX = 2_048;

/** Encodes any text as a NATS subject or key. Tokens are preserved; other bytes become `=` and two hex digits. */
export const toNatsName = (text: string): string =>
  text
    .replace(/[^\w.-]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
    )
    .replace(/(?<=^|\.)(?=\.|$)/g, '=');

/** Decodes a name of `toNatsName`. */
export const fromNatsName = (name: string): string =>
  name
    .replace(/(?:=[0-9a-f]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
    .replace(/(?<=^|\.)=(?=\.|$)/g, '');

/** As `toNatsName`, for names that are only compared and never decoded. */
export function toNatsSubject(text: string): string {
  const name = toNatsName(text);
  return name.length <= NAME_LENGTH_MAX ? name : createHash('sha256').update(name).digest('hex');
}
