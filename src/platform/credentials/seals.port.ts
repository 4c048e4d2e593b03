/** The bytes cannot be decrypted: they are of another key, were altered, or belong to another place. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** Encrypts texts so that only this service can decrypt them, and only for the same place. */
export abstract class Seals {
  abstract seal(text: string, place: readonly string[]): Buffer;
  /** @throws SealBroken */
  abstract open(sealed: Uint8Array, place: readonly string[]): string;
}
