import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { DeviceEvent } from './device.events.js';

export const deviceCodec: Codec<DeviceEvent> = {
  DevicePairingRequested: [],
  DevicePairingCancelled: [],
  DevicePaired: [],
  DeviceChanged: [],
  DevicePatternAdded: [],
  DevicePatternRemoved: [],
  DeviceRevoked: [],
};
