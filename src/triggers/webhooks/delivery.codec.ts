import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { DeliveryEvent } from './delivery.events.js';

export const deliveryCodec: Codec<DeliveryEvent> = {
  DeliveryAccepted: [],
  DeliveriesPurged: [],
};
