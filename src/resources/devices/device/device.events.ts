import type { Event } from '../../../kernel/event-sourcing/events.js';

/** `dev_` and 32 hexadecimal digits. */
export type DeviceId = string;

/** `ask`: a user approves each command. `full`: commands run without, those on the denylist apart. */
export type ApprovalMode = 'ask' | 'full';

/** What a user may say of a device. */
export type DeviceChanges = Partial<Readonly<{ name: string; description: string; approvalMode: ApprovalMode }>>;

/** What a device says of the machine it runs on. */
export type Machine = Readonly<{ hostname: string; os: string; arch: string; cliVersion: string }>;

/** An Ed25519 key: 32 bytes in base64, and their SHA-256. */
export type MachineKey = Readonly<{ publicKey: string; fingerprint: string }>;

/** A user wants to pair a device. The user code that redeems the pairing stands in no event; the id of the device follows from it. */
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
/** A device redeemed the code: it is the user's from here on, and has a token, of which the SHA-256 is kept. */
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
/** Commands of this normal form run without a question. `commandSha256` is that of the command it was made of. */
export type DevicePatternAdded = Event<'DevicePatternAdded', { deviceId: DeviceId; pattern: string; commandSha256: string }>;
export type DevicePatternRemoved = Event<'DevicePatternRemoved', { deviceId: DeviceId; pattern: string }>;
/** The device is let in no more, and its patterns are gone. */
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
