import type { DeviceCaller } from './caller.js';

/** Looks up devices by their tokens. The token of a revoked device is not found. */
export abstract class DeviceDirectory {
  /** Undefined if no device has this token. */
  abstract holderOf(token: string, requestId: string): Promise<DeviceCaller | undefined>;
  abstract isCurrent(deviceId: string, tokenId: string): Promise<boolean>;
  /** Records that a device was active, at a limited rate, in the background. Failures are only logged. */
  abstract noteUse(tokenId: string, address: string): void;
}
