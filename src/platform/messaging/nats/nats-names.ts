import { createHash } from 'node:crypto';

/** The server refuses command lines past 4 KiB; a longer name is replaced by its hash. */
const NAME_LENGTH_MAX = 2_048;

/** Any text as a NATS subject or key: its tokens stay tokens, other characters become `=` and two hex digits per byte. */
export const toNatsName = (text: string): string =>
  text
    .replace(/[^\w.-]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
    )
    .replace(/(?<=^|\.)(?=\.|$)/g, '=');

/** What `toNatsName` made the name of. */
export const fromNatsName = (name: string): string =>
  name
    .replace(/(?:=[0-9a-f]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
    .replace(/(?<=^|\.)=(?=\.|$)/g, '');

/** As `toNatsName` for names that are only compared, never read back. */
export function toNatsSubject(text: string): string {
  const name = toNatsName(text);
  return name.length <= NAME_LENGTH_MAX ? name : createHash('sha256').update(name).digest('hex');
}
