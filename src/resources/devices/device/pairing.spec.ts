import { describe, expect, it } from '@jest/globals';
import { Fingerprints } from '../../../kernel/event-sourcing/fingerprints.js';
import { Machine } from '../../../../test/support/reference-device.js';
import { deviceIdIn, isTokenOf, newDeviceToken, tokenIdOf, tokenSha256 } from './device-token.policy.js';
import { checkSignature, machineKeyIn, type Signed, SIGNATURE_SKEW_SECONDS } from './machine-key.policy.js';
import {
  deviceIdOf,
  newDeviceCode,
  shownUserCode,
  typedUserCode,
  USER_CODE_ALPHABET,
  userCodeOf,
} from './pairing-code.policy.js';

const fingerprints = new Fingerprints('a secret of the service');

describe('the code of a pairing', () => {
  it('is derived from the device code and the key of the service, and is accepted in lower case and with spaces and a dash', () => {
    const deviceCode = newDeviceCode();
    const code = userCodeOf(deviceCode, fingerprints);
    expect([...code].every((each) => USER_CODE_ALPHABET.includes(each))).toBe(true);
    expect(userCodeOf(deviceCode, new Fingerprints('another secret'))).not.toBe(code);
    expect(typedUserCode(` ${shownUserCode(code).toLowerCase()} `)).toBe(code);
    expect(['', 'ABCD', 'ABCD-WXY0', 'ABCD-WXYZ-2'].map(typedUserCode)).toEqual([undefined, undefined, undefined, undefined]);
    expect(deviceIdOf(code, fingerprints)).toMatch(/^dev_[0-9a-f]{32}$/);
  });
});

describe('the token of a device', () => {
  it('contains the id of its device and is verified by its hash', () => {
    const deviceId = `dev_${'0a'.repeat(16)}`;
    const token = newDeviceToken(deviceId);
    expect([deviceIdIn(token), deviceIdIn(`${token}x`), deviceIdIn('tok_x')]).toEqual([deviceId, undefined, undefined]);
    expect([isTokenOf(tokenSha256(token), token), isTokenOf(tokenSha256(token), newDeviceToken(deviceId))]).toEqual([
      true,
      false,
    ]);
    expect(tokenIdOf(deviceId, tokenSha256(token))).not.toContain(tokenSha256(token));
  });
});

describe('the signature of a request', () => {
  const now = new Date('2026-01-01T00:00:00.000Z');
  const [method, path, body] = ['POST', '/api/devices/poll', Buffer.from('{"a":1}')];
  const machine = new Machine();
  const key = machineKeyIn(machine.publicKey)!;
  const signedBy = (by: Machine, at = now): Signed => {
    const headers = by.headers(method, path, body, at.getTime());
    return {
      signature: headers['x-device-signature'],
      timestamp: headers['x-device-timestamp'],
      fingerprint: headers['x-device-machine-key'],
      publicKey: headers['x-device-machine-pubkey'],
      ...{ method, path, body },
    };
  };
  const outcome = (signed: Signed): string => {
    try {
      checkSignature(key, signed, now);
      return 'valid';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const away = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  const other = new Machine();

  it.each([
    ['valid', signedBy(machine)],
    ['valid', signedBy(machine, away(SIGNATURE_SKEW_SECONDS))],
    ['device-missing-signature', { ...signedBy(machine), signature: undefined }],
    ['device-missing-signature', { ...signedBy(machine), timestamp: undefined }],
    ['device-missing-signature', { ...signedBy(machine), fingerprint: undefined }],
    ['device-invalid-timestamp', { ...signedBy(machine), timestamp: 'now' }],
    ['device-timestamp-skew', signedBy(machine, away(SIGNATURE_SKEW_SECONDS + 1))],
    ['device-timestamp-skew', signedBy(machine, away(-SIGNATURE_SKEW_SECONDS - 1))],
    ['device-fingerprint-mismatch', signedBy(other)],
    ['device-missing-pubkey', { ...signedBy(machine), publicKey: undefined }],
    ['device-pubkey-fingerprint-mismatch', { ...signedBy(machine), publicKey: other.publicKey }],
    ['device-invalid-signature', { ...signedBy(machine), signature: signedBy(other).signature }],
    ['device-invalid-signature', { ...signedBy(machine), signature: 'x' }],
    ['device-invalid-signature', { ...signedBy(machine), body: Buffer.from('{"a":2}') }],
    ['device-invalid-signature', { ...signedBy(machine), path: '/api/devices/me' }],
    ['device-invalid-signature', { ...signedBy(machine), method: 'GET' }],
  ])('is checked with the outcome %s', (expected, signed) => expect(outcome(signed)).toBe(expected));

  it('needs a public key of 32 bytes', () => {
    expect(machineKeyIn(machine.publicKey)!.fingerprint).toBe(machine.fingerprint);
    expect(['', 'x', 'bm90IGEga2V5', `${machine.publicKey}AAAA`].map(machineKeyIn)).toEqual(Array(4).fill(undefined));
  });
});
