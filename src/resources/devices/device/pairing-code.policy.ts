import { randomBytes } from 'node:crypto';
import type { Fingerprints } from '../../../kernel/event-sourcing/fingerprints.js';
import type { DeviceId } from './device.events.js';

/** Without I, O, 0 and 1, which people mistake for one another. */
export const USER_CODE_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const USER_CODE_CHARACTERS = 8;
const BITS_PER_CHARACTER = 5;
const DEVICE_CODE = /^dc_[0-9a-f]{32}$/;

/** A secret of the page that pairs a device. The page uses it to read and to cancel the pairing. */
export const newDeviceCode = (): string => `dc_${randomBytes(16).toString('hex')}`;

export const isDeviceCode = (text: string): boolean => DEVICE_CODE.test(text);

/** The code that a user types at the device. It is derived from the device code, so that no table has to hold both. */
export function userCodeOf(deviceCode: string, fingerprints: Fingerprints): string {
  const bits = BigInt(`0x${fingerprints.of('device-user-code', deviceCode)}`);
  const characters = Array.from({ length: USER_CODE_CHARACTERS }, (_, at) => {
    const index = Number((bits >> BigInt(BITS_PER_CHARACTER * at)) & BigInt(USER_CODE_ALPHABET.length - 1));
    return USER_CODE_ALPHABET[index]!;
  });
  return characters.join('');
}

/** The code with a dash in the middle, for people to read. */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** A code as a user typed it, without regard to dashes, spaces and letter case. Undefined if the text is not a code. */
export function typedUserCode(text: string): string | undefined {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase();
  return code.length === USER_CODE_CHARACTERS && [...code].every((each) => USER_CODE_ALPHABET.includes(each)) ? code : undefined;
}

/**
 * The id of the device that redeems a code. It is an HMAC with the key of the service, so the code cannot be computed from the
 * log.
 */
export const deviceIdOf = (userCode: string, fingerprints: Fingerprints): DeviceId =>
  `dev_${fingerprints.of('device', userCode).slice(0, 32)}`;
