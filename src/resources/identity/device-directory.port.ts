import type { DeviceCaller } from './caller.js';

/** Finds out which device a token stands for. One of a device that was revoked is worth nothing. */
export abstract class DeviceDirectory {
  /** Undefined: the token is that of no device. */
  abstract holderOf(token: string, requestId: string): Promise<DeviceCaller | undefined>;
  abstract isCurrent(deviceId: string, tokenId: string): Promise<boolean>;
  /** Notes that a device was heard of, at most once in a while; never waited for, and never in the way. */
  abstract noteUse(tokenId: string, address: string): void;
}
