import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { systemTiming } from '../../platform/system-timing.js';
import type { Cause } from './events.js';
import { fingerprintOf, IDEMPOTENCY_KEY_CHARACTERS_MAX, useIdempotencyKey } from './idempotency.js';
import { Streams } from './streams.js';

const over = (store: InMemoryEventStore) => new Streams(store, systemTiming);
const clock = { now: () => new Date() };
const cause: Cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' };
const key = (more = {}) => ({ scope: 'answer', callerId: 'alice', key: 'k', fingerprint: 'f', ttlMs: 60_000, ...more });

it('tells the first request from its repetitions and from another request', async () => {
  const streams = over(new InMemoryEventStore());
  expect(await useIdempotencyKey(streams, clock, key(), 'first', cause)).toEqual({ used: 'first', value: 'first' });
  expect(await useIdempotencyKey(streams, clock, key(), 'second', cause)).toEqual({ used: 'again', value: 'first' });
  expect(await useIdempotencyKey(streams, clock, key({ fingerprint: 'g' }), 'other', cause)).toMatchObject({
    used: 'differently',
  });
  expect(await useIdempotencyKey(streams, clock, key({ callerId: 'bob' }), 'his', cause)).toEqual({
    used: 'first',
    value: 'his',
  });
});

it('lets one of many win that come at once', async () => {
  const streams = over(new InMemoryEventStore());
  const uses = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      useIdempotencyKey(streams, clock, key(), index, { ...cause, correlationId: `r${index}` }),
    ),
  );
  const first = uses.filter(({ used }) => used === 'first');
  expect(first).toHaveLength(1);
  expect(new Set(uses.map(({ value }) => value))).toEqual(new Set([first[0]!.value]));
});

it('stands for another request once the judge says so, and for one of many that come at once', async () => {
  const streams = over(new InMemoryEventStore());
  await useIdempotencyKey(streams, clock, key(), 'failed', cause);
  const retry = (value: string) =>
    useIdempotencyKey(
      streams,
      clock,
      key({ fingerprint: 'g' }),
      value,
      { ...cause, correlationId: value },
      undefined,
      (before) => (before.value === 'failed' ? 'anew' : 'again'),
    );
  const uses = await Promise.all(Array.from({ length: 5 }, (_, index) => retry(`retry ${index}`)));
  const [first, ...others] = uses.filter(({ used }) => used === 'first');
  expect(others).toEqual([]);
  expect(new Set(uses.map(({ value }) => value))).toEqual(new Set([first!.value]));
  expect(await useIdempotencyKey(streams, clock, key(), 'old', cause)).toEqual({ used: 'differently', value: first!.value });
});

it('may be used anew after its time, also when the store has forgotten the first use', async () => {
  const streams = over(new InMemoryEventStore({ now: () => new Date(Date.now() - 120_000) }));
  expect(await useIdempotencyKey(streams, clock, key(), 'first', cause)).toMatchObject({ used: 'first' });
  expect(await useIdempotencyKey(streams, clock, key(), 'second', { ...cause, correlationId: 'r2' })).toEqual({
    used: 'first',
    value: 'second',
  });
});

it('stands for its first request until its time is up', async () => {
  const streams = over(new InMemoryEventStore({ now: () => new Date(0) }));
  const at = (ms: number) => ({ now: () => new Date(ms) });
  await useIdempotencyKey(streams, at(0), key(), 'first', cause);
  expect(await useIdempotencyKey(streams, at(59_999), key(), 'second', cause)).toEqual({ used: 'again', value: 'first' });
  expect(await useIdempotencyKey(streams, at(60_000), key(), 'third', cause)).toEqual({ used: 'first', value: 'third' });
});

it('is one append although its answer was lost', async () => {
  const store = new InMemoryEventStore();
  const streams = over(store);
  store.failNextAppend('after');
  expect(await useIdempotencyKey(streams, clock, key(), 'first', cause)).toEqual({ used: 'first', value: 'first' });
  expect(await useIdempotencyKey(streams, clock, key(), 'second', cause)).toEqual({ used: 'again', value: 'first' });
});

it('has a length', async () => {
  const streams = over(new InMemoryEventStore());
  const long = 'x'.repeat(IDEMPOTENCY_KEY_CHARACTERS_MAX);
  expect(await useIdempotencyKey(streams, clock, key({ key: long }), 1, cause)).toMatchObject({ used: 'first' });
  for (const wrong of ['', `${long}x`]) {
    await expect(useIdempotencyKey(streams, clock, key({ key: wrong }), 1, cause)).rejects.toMatchObject({
      code: 'invalid-request',
    });
  }
});

it('takes requests for equal that name the same fields in another order', () =>
  expect(fingerprintOf('stream', { a: 1, b: { c: [1, 2], d: null } })).toBe(
    fingerprintOf('stream', { b: { d: null, c: [1, 2] }, a: 1 }),
  ));
