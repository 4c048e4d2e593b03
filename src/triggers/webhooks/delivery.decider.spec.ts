import { expect, it } from '@jest/globals';
import { given } from '../../../test/support/given.js';
import { accept, deliveries, purge } from './delivery.decider.js';
import type { DeliveryAccepted, DeliveryEvent } from './delivery.events.js';

const HOUR_MS = 3_600_000;
const rules = { ttlMs: 24 * HOUR_MS, mismatch: 'original' } as const;
const strict = { ...rules, mismatch: 'reject' } as const;
const delivery = (taskId: string, hour: number, fingerprint = 'f1'): DeliveryAccepted['data'] => ({
  agentId: 'a1',
  ownerId: 'alice',
  taskId,
  fingerprint,
  acceptedAt: new Date(Date.UTC(2026, 0, 1) + hour * HOUR_MS).toISOString(),
  input: '{}',
});
const accepted = (data: DeliveryAccepted['data']): DeliveryAccepted => ({ type: 'DeliveryAccepted', data });

it('the first delivery under a key is accepted', () =>
  given(deliveries, [])
    .when(accept(delivery('t1', 0), strict))
    .then([accepted(delivery('t1', 0))]));

it('another delivery under a valid key changes nothing', () => {
  const past = given(deliveries, [accepted(delivery('t1', 0))]);
  past.when(accept(delivery('t2', 23), rules)).thenNothing();
  past.when(accept(delivery('t2', 23, 'f2'), rules)).thenNothing();
  past.when(accept(delivery('t2', 23), strict)).thenNothing();
});

it('a different body under the same key is refused if the settings require that', () =>
  given(deliveries, [accepted(delivery('t1', 0))])
    .when(accept(delivery('t2', 1, 'f2'), strict))
    .thenRejected('idempotency-key-reused'));

it('a new delivery is accepted after the key has expired, and the key then stands for it', () => {
  const past = [accepted(delivery('t1', 0)), accepted(delivery('t2', 24, 'f2'))];
  given(deliveries, past.slice(0, 1))
    .when(accept(delivery('t2', 24, 'f2'), strict))
    .then(past.slice(1));
  given(deliveries, past)
    .when(accept(delivery('t3', 25, 'f2'), strict))
    .thenNothing();
  expect(past.reduce(deliveries.evolve, deliveries.initial).last?.taskId).toBe('t2');
});

it('the purge of all deliveries is recorded once, unless another one was accepted meanwhile, and frees the key', () => {
  const now = new Date('2026-02-01T00:00:00.000Z');
  const data = { agentId: 'a1', ownerId: 'alice', purgedAt: now.toISOString() };
  const purged: DeliveryEvent = { type: 'DeliveriesPurged', data };
  const past = [accepted(delivery('t1', 0))];
  given(deliveries, past).when(purge('t1', now)).then([purged]);
  given(deliveries, [...past, purged])
    .when(purge('t1', now))
    .thenNothing();
  given(deliveries, [...past, accepted(delivery('t2', 24))])
    .when(purge('t1', now))
    .thenNothing();
  given(deliveries, [...past, purged])
    .when(accept(delivery('t2', 1, 'f2'), strict))
    .then([accepted(delivery('t2', 1, 'f2'))]);
});
