import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { Rejection } from '../../../kernel/rejection.js';
import type { MachineKey } from './device.events.js';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** The largest accepted difference between the clocks of a device and of the server. */
export const SIGNATURE_SKEW_SECONDS = 300;
/** The bytes before the 32 bytes of an Ed25519 key in its DER form (RFC 8410). */
const DER_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The Ed25519 key in a base64 text; undefined if the text does not hold one. */
export function machineKeyIn(base64: string): MachineKey | undefined {
  const bytes = bytesIn(base64, KEY_BYTES);
  return bytes && { publicKey: bytes.toString('base64'), fingerprint: createHash('sha256').update(bytes).digest('hex') };
}

function bytesIn(base64: string, length: number): Buffer | undefined {
  const standard = base64.trim().replaceAll('-', '+').replaceAll('_', '/');
  const bytes = BASE64.test(standard) ? Buffer.from(standard, 'base64') : Buffer.alloc(0);
  return bytes.length === length ? bytes : undefined;
}

const keyOf = ({ publicKey }: MachineKey): KeyObject =>
  createPublicKey({ key: Buffer.concat([DER_HEAD, Buffer.from(publicKey, 'base64')]), format: 'der', type: 'spki' });

/** The parts of a request that prove that it comes from the device's machine. */
export type Signed = Readonly<{
  signature: string | undefined;
  timestamp: string | undefined;
  fingerprint: string | undefined;
  publicKey: string | undefined;
  method: string;
  path: string;
  body: Buffer;
}>;

/** The text that a device signs. */
const signedText = ({ method, path, timestamp, body }: Pick<Signed, 'method' | 'path' | 'timestamp' | 'body'>): string =>
  [method, path, timestamp, createHash('sha256').update(body).digest('hex')].join(' ');

const refused = (code: string, message: string) => new Rejection(`device-${code}`, message);

/** @throws Rejection whose code names the first check that failed */
export function checkSignature(key: MachineKey, signed: Signed, now: Date): void {
  const { signature, timestamp, fingerprint, publicKey } = signed;
  if (!signature || !timestamp || !fingerprint) throw refused('missing-signature', 'The signature is missing');
  if (!/^\d{1,12}$/.test(timestamp)) throw refused('invalid-timestamp', 'The timestamp is not a number of seconds');
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > SIGNATURE_SKEW_SECONDS) {
    throw refused('timestamp-skew', `The timestamp is more than ${SIGNATURE_SKEW_SECONDS} seconds off`);
  }
  if (fingerprint !== key.fingerprint) throw refused('fingerprint-mismatch', 'The key is not that of the device');
  if (!publicKey) throw refused('missing-pubkey', 'The public key is missing');
  if (machineKeyIn(publicKey)?.fingerprint !== key.fingerprint) {
    throw refused('pubkey-fingerprint-mismatch', 'The public key does not have the fingerprint');
  }
  const bytes = bytesIn(signature, SIGNATURE_BYTES);
  if (!bytes || !verify(null, Buffer.from(signedText(signed)), keyOf(key), bytes)) {
    throw refused('invalid-signature', 'The signature is not valid');
  }
}
