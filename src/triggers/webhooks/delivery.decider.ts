import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { deliveryCodec } from './delivery.codec.js';
import type { DeliveryAccepted, DeliveryEvent } from './delivery.events.js';

/** The deliveries under one idempotency key. */
export type Deliveries = Readonly<{ last: DeliveryAccepted['data'] | null }>;

export const deliveries: Aggregate<Deliveries, DeliveryEvent> = {
  initial: { last: null },
  evolve: (_, event) => ({ last: event.type === 'DeliveryAccepted' ? event.data : null }),
  codec: deliveryCodec,
};

/** How long a key stands for its first delivery, and what happens to a different delivery under the same key. */
export type KeyRules = Readonly<{ ttlMs: number; mismatch: 'original' | 'reject' }>;

/** Accepts one delivery per key within `ttlMs`. A repetition changes nothing and gets the task of the first one. */
export const accept =
  (delivery: DeliveryAccepted['data'], { ttlMs, mismatch }: KeyRules): Decision<Deliveries, DeliveryEvent> =>
  ({ last }) => {
    if (!last || Date.parse(delivery.acceptedAt) - Date.parse(last.acceptedAt) >= ttlMs) {
      return [{ type: 'DeliveryAccepted', data: delivery }];
    }
    if (last.fingerprint !== delivery.fingerprint && mismatch === 'reject') {
      throw new Rejection('idempotency-key-reused', 'This Idempotency-Key was used with another request.');
    }
    return [];
  };

/** Records that all deliveries are purged, unless another one was accepted after that of the task. */
export const purge =
  (taskId: string, now: Date): Decision<Deliveries, DeliveryEvent> =>
  ({ last }) => {
    if (last?.taskId !== taskId) return [];
    const { agentId, ownerId } = last;
    return [{ type: 'DeliveriesPurged', data: { agentId, ownerId, purgedAt: now.toISOString() } }];
  };
