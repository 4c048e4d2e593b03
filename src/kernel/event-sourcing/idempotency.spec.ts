import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { systemTiming } from '../../platform/system-timing.js';
import type { Cause } from './events.js';
import { Fingerprints } from './fingerprints.js';
import { IDEMPOTENCY_KEY_CHARACTERS_MAX, IdempotencyKeys } from './idempotency.js';
import { Streams } from './streams.js';

const fingerprints = new Fingerprints('a secret for tests');
const clock = { now: () => new Date() };
const over = (store: InMemoryEventStore, at = clock) => new IdempotencyKeys(new Streams(store, systemTiming), at, fingerprints);
const cause: Cause = { actor: 'user:alice', credential: 'session-token', correlationId: 'r1', causationId: 'r1' };
const key = (more = {}) => ({ scope: 'answer', callerId: 'alice', key: 'k', fingerprint: 'f', ttlMs: 60_000, ...more });

it('distinguishes the first request, its repetitions and a different request', async () => {
  const keys = over(new InMemoryEventStore());
  expect(await keys.use(key(), 'first', cause)).toEqual({ used: 'first', value: 'first' });
  expect(await keys.use(key(), 'second', cause)).toEqual({ used: 'again', value: 'first' });
  expect(await keys.use(key({ fingerprint: 'g' }), 'other', cause)).toMatchObject({
    used: 'differently',
  });
  expect(await keys.use(key({ callerId: 'bob' }), 'his', cause)).toEqual({
    used: 'first',
    value: 'his',
  });
});

it('lets one of many concurrent requests win', async () => {
  const keys = over(new InMemoryEventStore());
  const uses = await Promise.all(
    Array.from({ length: 20 }, (_, index) => keys.use(key(), index, { ...cause, correlationId: `r${index}` })),
  );
  const first = uses.filter(({ used }) => used === 'first');
  expect(first).toHaveLength(1);
  expect(new Set(uses.map(({ value }) => value))).toEqual(new Set([first[0]!.value]));
});

it('is rebound to a new request if the judge says so, and to one of many concurrent ones', async () => {
  const keys = over(new InMemoryEventStore());
  await keys.use(key(), 'failed', cause);
  const retry = (value: string) =>
    keys.use(
      key({ fingerprint: 'g' }),
      value,
      { ...cause, correlationId: value },
      {
        judge: (before) => (before.value === 'failed' ? 'anew' : 'again'),
      },
    );
  const uses = await Promise.all(Array.from({ length: 5 }, (_, index) => retry(`retry ${index}`)));
  const [first, ...others] = uses.filter(({ used }) => used === 'first');
  expect(others).toEqual([]);
  expect(new Set(uses.map(({ value }) => value))).toEqual(new Set([first!.value]));
  expect(await keys.use(key(), 'old', cause)).toEqual({ used: 'differently', value: first!.value });
});

it('lets one request win also if two processes bind it at the same time', async () => {
  const store = new InMemoryEventStore();
  const bind = (value: string) => over(store).use(key(), value, { ...cause, correlationId: value });
  const uses = await Promise.all(['a', 'b', 'c'].map(bind));
  const [first, ...others] = uses.filter(({ used }) => used === 'first');
  expect(others).toEqual([]);
  expect(new Set(uses.map(({ value }) => value))).toEqual(new Set([first!.value]));
});

it('can be reused after its time to live, also if the store has deleted the first use', async () => {
  let now = 0;
  const atNow = { now: () => new Date(now) };
  const keys = over(new InMemoryEventStore(atNow), atNow);
  expect(await keys.use(key(), 'first', cause)).toMatchObject({ used: 'first' });
  now = 120_000;
  expect(await keys.use(key(), 'second', { ...cause, correlationId: 'r2' })).toEqual({
    used: 'first',
    value: 'second',
  });
});

it('is bound to its first request until its time to live ends', async () => {
  const store = new InMemoryEventStore({ now: () => new Date(0) });
  const at = (ms: number) => over(store, { now: () => new Date(ms) });
  await at(0).use(key(), 'first', cause);
  expect(await at(59_999).use(key(), 'second', cause)).toEqual({ used: 'again', value: 'first' });
  expect(await at(60_000).use(key(), 'third', cause)).toEqual({ used: 'first', value: 'third' });
});

it('is appended once even if the answer was lost', async () => {
  const store = new InMemoryEventStore();
  const keys = over(store);
  store.failNextAppend('after');
  expect(await keys.use(key(), 'first', cause)).toEqual({ used: 'first', value: 'first' });
  expect(await keys.use(key(), 'second', cause)).toEqual({ used: 'again', value: 'first' });
});

it('has a maximum length', async () => {
  const keys = over(new InMemoryEventStore());
  const long = 'x'.repeat(IDEMPOTENCY_KEY_CHARACTERS_MAX);
  expect(await keys.use(key({ key: long }), 1, cause)).toMatchObject({ used: 'first' });
  for (const wrong of ['', `${long}x`]) {
    await expect(keys.use(key({ key: wrong }), 1, cause)).rejects.toMatchObject({
      code: 'invalid-request',
    });
  }
});

it('puts neither the key nor the caller into the stream name', async () => {
  const store = new InMemoryEventStore();
  const keys = over(store);
  await keys.use(key({ key: 'order-7', callerId: 'alice' }), 1, cause);
  expect(keys.streamOf(key({ key: 'order-7' }))).toMatch(/^idempotency-answer-[0-9a-f]{32}$/);
  const other = new IdempotencyKeys(new Streams(store, systemTiming), clock, new Fingerprints('another secret'));
  expect(other.streamOf(key({ key: 'order-7' }))).not.toBe(keys.streamOf(key({ key: 'order-7' })));
});
