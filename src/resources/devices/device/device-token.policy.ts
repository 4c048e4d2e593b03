import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DeviceId } from './device.events.js';

const TOKEN_BYTES = 32;
/** `tok_`, the digits of the device's id, and 256 random bits in base64url. */
const TOKEN = /^tok_([0-9a-f]{32})([\w-]{43})$/;

export const tokenSha256 = (token: string): string => createHash('sha256').update(token).digest('hex');

/** A new token. It contains the id of its device, so that the device is found without a table of tokens. */
export const newDeviceToken = (deviceId: DeviceId): string =>
  `tok_${deviceId.slice('dev_'.length)}${randomBytes(TOKEN_BYTES).toString('base64url')}`;

/** The id of the device that a token names; undefined if the text is not a token. */
export function deviceIdIn(token: string): DeviceId | undefined {
  const digits = TOKEN.exec(token)?.[1];
  return digits && `dev_${digits}`;
}

export const isTokenOf = (sha256: string, token: string): boolean =>
  timingSafeEqual(Buffer.from(sha256, 'hex'), Buffer.from(tokenSha256(token), 'hex'));

/**
 * Names the token of a device in logs and tables. It is a part of a hash of the token's hash, so it cannot be used to sign in.
 */
export const tokenIdOf = (deviceId: DeviceId, sha256: string): string => `${deviceId}.${tokenSha256(sha256).slice(0, 16)}`;
