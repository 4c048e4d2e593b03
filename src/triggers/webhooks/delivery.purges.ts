import { purgeOf } from '../../kernel/event-sourcing/purge.js';
import { deliveryCodec } from './delivery.codec.js';
import type { DeliveriesPurged } from './delivery.events.js';

export const deliveryPurges = [
  purgeOf<DeliveriesPurged>({ category: 'delivery', codec: deliveryCodec, type: 'DeliveriesPurged' }),
];
