import { describe, expect, it } from '@jest/globals';
import {
  addPattern,
  cancelPairing,
  changeDevice,
  type Device,
  device,
  pair,
  PATTERNS_MAX,
  type Redemption,
  removePattern,
  requestPairing,
  revoke,
} from './device.decider.js';
import type { DeviceEvent } from './device.events.js';

const NOW = new Date('2026-01-01T00:00:00.000Z');
const LATER = new Date('2026-01-01T00:10:00.000Z');
const request = {
  deviceId: 'dev_1',
  ownerId: 'alice',
  name: null,
  description: null,
  approvalMode: 'ask',
  requestedAt: NOW.toISOString(),
  expiresAt: LATER.toISOString(),
} as const;
const redemption: Redemption = {
  name: 'Build-1234',
  machine: { hostname: 'b', os: 'linux', arch: 'arm64', cliVersion: '1' },
  machineKey: { publicKey: 'k', fingerprint: 'f' },
  tokenSha256: 'aa',
  toolId: 't1',
};

const after = (...decisions: ((state: Device) => readonly DeviceEvent[])[]): Device =>
  decisions.reduce((state, decide) => decide(state).reduce(device.evolve, state), device.initial);
const PAIRING = requestPairing(request, NOW);
const PAIRED = pair(redemption, NOW);
const refused = (state: Device, decide: (state: Device) => unknown): string => {
  try {
    decide(state);
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'allowed';
};

describe('a pairing', () => {
  it('is redeemed once, before it expires, and becomes the requested device', () => {
    const state = after(PAIRING, PAIRED);
    expect(state).toMatchObject({ status: 'active', ownerId: 'alice', name: 'Build-1234', description: '', approvalMode: 'ask' });
    expect(refused(state, PAIRED)).toBe('device-pairing-redeemed');
    expect(refused(after(PAIRING), pair(redemption, LATER))).toBe('device-pairing-not-found');
    expect(refused(device.initial, PAIRED)).toBe('device-pairing-not-found');
  });

  it('can be cancelled only by its owner, and cannot be redeemed afterwards', () => {
    expect(refused(after(PAIRING), cancelPairing('bob', NOW))).toBe('device-pairing-not-found');
    const cancelled = after(PAIRING, cancelPairing('alice', NOW));
    expect(refused(cancelled, PAIRED)).toBe('device-pairing-not-found');
    expect(refused(after(PAIRING, PAIRED), cancelPairing('alice', NOW))).toBe('device-pairing-not-found');
  });

  it('keeps its code reserved until it expires', () => {
    expect(refused(after(PAIRING), PAIRING)).toBe('device-code-taken');
    expect(refused(after(PAIRING, PAIRED), requestPairing(request, LATER))).toBe('device-code-taken');
    expect(refused(after(PAIRING), requestPairing(request, LATER))).toBe('allowed');
  });
});

describe('a device', () => {
  const active = after(PAIRING, PAIRED);
  it('is changed only by its owner, and only in the fields that differ', () => {
    const data = { deviceId: 'dev_1', changes: { name: 'New' } };
    expect(changeDevice('alice', { name: 'New', approvalMode: 'ask' })(active)).toEqual([{ type: 'DeviceChanged', data }]);
    expect(changeDevice('alice', { approvalMode: 'ask' })(active)).toEqual([]);
    expect(refused(active, changeDevice('bob', { name: 'New' }))).toBe('device-not-found');
    expect(refused(after(PAIRING), changeDevice('alice', { name: 'New' }))).toBe('device-not-found');
  });

  it('stores each pattern once, up to a maximum number', () => {
    const ls = addPattern('alice', 'ls *', 'aa');
    expect(after(PAIRING, PAIRED, ls, ls).patterns).toEqual(['ls *']);
    expect(after(PAIRING, PAIRED, ls, removePattern('alice', 'ls *')).patterns).toEqual([]);
    expect(removePattern('alice', 'rm *')(active)).toEqual([]);
    const full = { ...active, patterns: Array.from({ length: PATTERNS_MAX }, (_, n) => `p${n}`) };
    expect(refused(full, ls)).toBe('device-patterns-full');
    expect(refused(active, addPattern('bob', 'ls *', 'aa'))).toBe('device-not-found');
    expect(refused(after(PAIRING, PAIRED, ls), removePattern('bob', 'ls *'))).toBe('device-not-found');
  });

  it('that is revoked has no patterns and cannot be changed', () => {
    const revoked = after(PAIRING, PAIRED, addPattern('alice', 'ls *', 'aa'), revoke('alice', LATER));
    expect(revoked).toMatchObject({ status: 'revoked', patterns: [], revokedAt: LATER.toISOString() });
    for (const decide of [changeDevice('alice', { name: 'x' }), addPattern('alice', 'ls', 'aa'), revoke('alice', LATER)]) {
      expect(refused(revoked, decide)).toBe('device-not-found');
    }
    expect(refused(revoked, PAIRED)).toBe('device-pairing-redeemed');
    expect(refused(active, revoke('bob', LATER))).toBe('device-not-found');
  });
});
