import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../test/support/in-memory-event-store.js';
import { systemTiming } from '../platform/system-timing.js';
import type { Cause } from './events.js';
import { fingerprintOf, IDEMPOTENCY_KEY_CHARACTERS_MAX, useIdempotencyKey } from './idempotency.js';
import { Streams } from './streams.js';

const over = (store: InMemoryEventStore) => new Streams(store, systemTiming);
const cause: Cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' };
const key = (more = {}) => ({ scope: 'answer', callerId: 'alice', key: 'k', fingerprint: 'f', ttlMs: 60_000, ...more });

it('tells the first request from its repetitions and from another request', async () => {
  const streams = over(new InMemoryEventStore());
  expect(await useIdempotencyKey(streams, key(), 'first', cause)).toEqual({ used: 'first', value: 'first' });
  expect(await useIdempotencyKey(streams, key(), 'second', cause)).toEqual({ used: 'again', value: 'first' });
  expect(await useIdempotencyKey(streams, key({ fingerprint: 'g' }), 'other', cause)).toMatchObject({ used: 'differently' });
  expect(await useIdempotencyKey(streams, key({ callerId: 'bob' }), 'his', cause)).toEqual({ used: 'first', value: 'his' });
});

it('lets one of many win that come at once', async () => {
  const streams = over(new InMemoryEventStore());
  const uses = await Promise.all(
    Array.from({ length: 20 }, (_, index) => useIdempotencyKey(streams, key(), index, { ...cause, correlationId: `r${index}` })),
  );
  const first = uses.filter(({ used }) => used === 'first');
  expect(first).toHaveLength(1);
  expect(new Set(uses.map(({ value }) => value))).toEqual(new Set([first[0]!.value]));
});

it('may be used anew after its time, also when the store has forgotten the first use', async () => {
  const streams = over(new InMemoryEventStore({ now: () => new Date(Date.now() - 120_000) }));
  expect(await useIdempotencyKey(streams, key(), 'first', cause)).toMatchObject({ used: 'first' });
  expect(await useIdempotencyKey(streams, key(), 'second', { ...cause, correlationId: 'r2' })).toEqual({
    used: 'first',
    value: 'second',
  });
});

it('is one append although its answer was lost', async () => {
  const store = new InMemoryEventStore();
  const streams = over(store);
  store.failNextAppend('after');
  expect(await useIdempotencyKey(streams, key(), 'first', cause)).toEqual({ used: 'first', value: 'first' });
  expect(await useIdempotencyKey(streams, key(), 'second', cause)).toEqual({ used: 'again', value: 'first' });
});

it('has a length', async () => {
  const streams = over(new InMemoryEventStore());
  const long = 'x'.repeat(IDEMPOTENCY_KEY_CHARACTERS_MAX);
  expect(await useIdempotencyKey(streams, key({ key: long }), 1, cause)).toMatchObject({ used: 'first' });
  for (const wrong of ['', `${long}x`]) {
    await expect(useIdempotencyKey(streams, key({ key: wrong }), 1, cause)).rejects.toMatchObject({ code: 'invalid-request' });
  }
});

it('takes requests for equal that name the same fields in another order', () =>
  expect(fingerprintOf('stream', { a: 1, b: { c: [1, 2], d: null } })).toBe(
    fingerprintOf('stream', { b: { d: null, c: [1, 2] }, a: 1 }),
  ));
