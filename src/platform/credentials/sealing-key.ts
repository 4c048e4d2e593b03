import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { SealBroken, Seals } from './seals.port.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** The nonce length of AES-GCM. Random nonces are safe for about 2^32 encryptions. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The first byte identifies the key and the method. */
const KEY_VERSION = 1;
const HEADER_BYTES = 1 + NONCE_BYTES;

/** Encrypts texts with a secret, and authenticates the place that they are stored at. */
export class SealingKey extends Seals {
  private readonly key: Buffer;

  constructor(secret: string) {
    super();
    if (secret === '') throw new Error('ENCRYPTION_SECRET_KEY is empty, but secrets cannot be stored without it.');
    this.key = Buffer.from(hkdfSync('sha256', secret, '', `credentials v${KEY_VERSION}`, KEY_BYTES));
  }

  /** Returns version, nonce, ciphertext and tag. */
  seal(text: string, place: readonly string[]): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce, { authTagLength: TAG_BYTES }).setAAD(boundTo(place));
    const sealed = [cipher.update(text, 'utf8'), cipher.final()];
    return Buffer.concat([Buffer.of(KEY_VERSION), nonce, ...sealed, cipher.getAuthTag()]);
  }

  /** @throws SealBroken */
  open(sealed: Uint8Array, place: readonly string[]): string {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < HEADER_BYTES + TAG_BYTES || bytes[0] !== KEY_VERSION) {
      throw new SealBroken('This was not sealed in a way that is known here.');
    }
    const decipher = createDecipheriv(CIPHER, this.key, bytes.subarray(1, HEADER_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(boundTo(place))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const opened = [decipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(opened).toString('utf8');
    } catch (error) {
      const reason = 'Either ENCRYPTION_SECRET_KEY is not the one it was sealed with, or it has been altered.';
      throw new SealBroken(`What is sealed cannot be opened. ${reason}`, { cause: error });
    }
  }
}

const boundTo = (place: readonly string[]): Buffer => Buffer.from(JSON.stringify([KEY_VERSION, ...place]));
