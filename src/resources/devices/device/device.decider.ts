import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { deviceCodec } from './device.codec.js';
import type {
  ApprovalMode,
  DeviceChanges,
  DeviceEvent,
  DeviceId,
  DevicePaired,
  DevicePairingRequested,
} from './device.events.js';

export const PATTERNS_MAX = 500;

/** A device, from the request of its pairing until its revocation. */
export type Device = Readonly<{
  id: DeviceId;
  status: 'none' | 'pairing' | 'cancelled' | 'active' | 'revoked';
  ownerId: string;
  requested: DevicePairingRequested['data'] | null;
  paired: DevicePaired['data'] | null;
  name: string;
  description: string;
  approvalMode: ApprovalMode;
  patterns: readonly string[];
  revokedAt: string | null;
}>;

const initial: Device = {
  id: '',
  status: 'none',
  ownerId: '',
  requested: null,
  paired: null,
  name: '',
  description: '',
  approvalMode: 'ask',
  patterns: [],
  revokedAt: null,
};

export const device: Aggregate<Device, DeviceEvent> = { initial, evolve, codec: deviceCodec };

function evolve(state: Device, event: DeviceEvent): Device {
  switch (event.type) {
    case 'DevicePairingRequested': {
      const { deviceId: id, ownerId } = event.data;
      return { ...state, id, status: 'pairing', ownerId, requested: event.data };
    }
    case 'DevicePairingCancelled':
      return { ...state, status: 'cancelled' };
    case 'DevicePaired': {
      const { name, description, approvalMode } = event.data;
      return { ...state, status: 'active', paired: event.data, name, description, approvalMode };
    }
    case 'DeviceChanged':
      return { ...state, ...event.data.changes };
    case 'DevicePatternAdded':
      return { ...state, patterns: [...state.patterns, event.data.pattern] };
    case 'DevicePatternRemoved':
      return { ...state, patterns: state.patterns.filter((pattern) => pattern !== event.data.pattern) };
    case 'DeviceRevoked':
      return { ...state, status: 'revoked', patterns: [], revokedAt: event.data.revokedAt };
  }
}

type Decide = Decision<Device, DeviceEvent>;

/** The same answer whether the device does not exist or belongs to another user. */
export const deviceNotFound = () => new Rejection('device-not-found', 'Device not found');
export const pairingNotFound = () => new Rejection('device-pairing-not-found', 'Pairing not found');

/** The pairing of a device that was paired and that this user owns. @throws Rejection device-not-found */
function pairedFor(state: Device, ownerId: string): NonNullable<Device['paired']> {
  if (!state.paired || state.ownerId !== ownerId) throw deviceNotFound();
  return state.paired;
}

const isOpen = ({ status, requested }: Device, now: Date): boolean =>
  status === 'pairing' && now.getTime() < Date.parse(requested!.expiresAt);

/** @throws Rejection device-code-taken if the code is in use; the caller has to make another one */
export const requestPairing =
  (request: DevicePairingRequested['data'], now: Date): Decide =>
  (state) => {
    if (state.paired || isOpen(state, now)) throw new Rejection('device-code-taken', 'This code is in use');
    return [{ type: 'DevicePairingRequested', data: request }];
  };

export const cancelPairing =
  (ownerId: string, now: Date): Decide =>
  (state) => {
    if (state.ownerId !== ownerId || !isOpen(state, now)) throw pairingNotFound();
    return [{ type: 'DevicePairingCancelled', data: { deviceId: state.id } }];
  };

/** What the redemption of a code adds to the pairing. */
export type Redemption = Readonly<
  Omit<DevicePaired['data'], 'deviceId' | 'ownerId' | 'description' | 'approvalMode' | 'pairedAt'>
>;

/** The first redemption succeeds. @throws Rejection device-pairing-not-found, device-pairing-redeemed */
export const pair =
  (redemption: Redemption, now: Date): Decide =>
  (state) => {
    if (state.paired) throw new Rejection('device-pairing-redeemed', 'This code was redeemed before');
    if (!isOpen(state, now)) throw pairingNotFound();
    const { deviceId, ownerId, description, approvalMode } = state.requested!;
    const pairedAt = now.toISOString();
    return [
      {
        type: 'DevicePaired',
        data: { ...redemption, deviceId, ownerId, description: description ?? '', approvalMode, pairedAt },
      },
    ];
  };

/** A revoked device cannot be changed. @throws Rejection device-not-found */
function refuseRevoked(state: Device, ownerId: string): void {
  pairedFor(state, ownerId);
  if (state.status !== 'active') throw deviceNotFound();
}

export const changeDevice =
  (ownerId: string, wanted: DeviceChanges): Decide =>
  (state) => {
    refuseRevoked(state, ownerId);
    const differs = ([field, value]: [string, unknown]) => state[field as keyof DeviceChanges] !== value;
    const changes: DeviceChanges = Object.fromEntries(Object.entries(wanted).filter(differs));
    return Object.keys(changes).length === 0 ? [] : [{ type: 'DeviceChanged', data: { deviceId: state.id, changes } }];
  };

export const addPattern =
  (ownerId: string, pattern: string, commandSha256: string): Decide =>
  (state) => {
    refuseRevoked(state, ownerId);
    if (state.patterns.includes(pattern)) return [];
    if (state.patterns.length >= PATTERNS_MAX) {
      throw new Rejection('device-patterns-full', `A device has at most ${PATTERNS_MAX} patterns`);
    }
    return [{ type: 'DevicePatternAdded', data: { deviceId: state.id, pattern, commandSha256 } }];
  };

export const removePattern =
  (ownerId: string, pattern: string): Decide =>
  (state) => {
    pairedFor(state, ownerId);
    return state.patterns.includes(pattern) ? [{ type: 'DevicePatternRemoved', data: { deviceId: state.id, pattern } }] : [];
  };

export const revoke =
  (ownerId: string, now: Date): Decide =>
  (state) => {
    const { toolId } = pairedFor(state, ownerId);
    if (state.status === 'revoked') throw deviceNotFound();
    return [{ type: 'DeviceRevoked', data: { deviceId: state.id, ownerId, toolId, revokedAt: now.toISOString() } }];
  };
