/** What was sealed cannot be read: it was sealed with another key, has been altered, or belongs elsewhere. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** Seals texts so that they can be read only by this service, and in the same place. */
export abstract class Seals {
  abstract seal(text: string, place: readonly string[]): Buffer;
  /** @throws SealBroken */
  abstract open(sealed: Uint8Array, place: readonly string[]): string;
}
