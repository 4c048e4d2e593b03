import type { Codec } from '../kernel/codec.js';
import type { DeliveryEvent } from './delivery.events.js';

export const deliveryCodec: Codec<DeliveryEvent> = {
  DeliveryAccepted: [],
};
