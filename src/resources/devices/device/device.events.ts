import type { Event } from '../../../kernel/event-sourcing/events.js';

/** `dev_` and 32 hexadecimal digits. */
export type DeviceId = string;

/** `ask`: a user approves each command. `full`: commands run without an approval, except those on the denylist. */
export type ApprovalMode = 'ask' | 'full';

/** What a user may change about a device. */
export type DeviceChanges = Partial<Readonly<{ name: string; description: string; approvalMode: ApprovalMode }>>;

/** What a device reports about its machine. */
export type Machine = Readonly<{ hostname: string; os: string; arch: string; cliVersion: string }>;

/** An Ed25519 key: 32 bytes in base64, and their SHA-256. */
export type MachineKey = Readonly<{ publicKey: string; fingerprint: string }>;

/**
 * A user requested a pairing. No event contains the user code that redeems it; the id of the device is derived from that code.
 */
export type DevicePairingRequested = Event<
  'DevicePairingRequested',
  {
    deviceId: DeviceId;
    ownerId: string;
    name: string | null;
    description: string | null;
    approvalMode: ApprovalMode;
    requestedAt: string;
    expiresAt: string;
  }
>;
export type DevicePairingCancelled = Event<'DevicePairingCancelled', { deviceId: DeviceId }>;
/** A device redeemed the code: from now on it belongs to the user. Of its token only the SHA-256 is stored. */
export type DevicePaired = Event<
  'DevicePaired',
  {
    deviceId: DeviceId;
    ownerId: string;
    name: string;
    description: string;
    approvalMode: ApprovalMode;
    machine: Machine;
    machineKey: MachineKey;
    tokenSha256: string;
    /** The tool by which models reach the device. */
    toolId: string;
    pairedAt: string;
  }
>;
/** Holds exactly the fields that changed. */
export type DeviceChanged = Event<'DeviceChanged', { deviceId: DeviceId; changes: DeviceChanges }>;
/**
 * Commands of this normal form run without an approval. `commandSha256` is the digest of the command from which the pattern was
 * made.
 */
export type DevicePatternAdded = Event<'DevicePatternAdded', { deviceId: DeviceId; pattern: string; commandSha256: string }>;
export type DevicePatternRemoved = Event<'DevicePatternRemoved', { deviceId: DeviceId; pattern: string }>;
/** The device's token is no longer valid, and its patterns are removed. */
export type DeviceRevoked = Event<'DeviceRevoked', { deviceId: DeviceId; ownerId: string; toolId: string; revokedAt: string }>;

export type DeviceEvent =
  | DevicePairingRequested
  | DevicePairingCancelled
  | DevicePaired
  | DeviceChanged
  | DevicePatternAdded
  | DevicePatternRemoved
  | DeviceRevoked;

export const deviceStream = (deviceId: DeviceId): string => `device-${deviceId}`;

const DEVICE_ID = /^dev_[0-9a-f]{32}$/;
export const isDeviceId = (text: unknown): text is DeviceId => typeof text === 'string' && DEVICE_ID.test(text);
