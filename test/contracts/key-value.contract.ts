import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { KEPT_MS_MAX, KEY_BYTES_MAX, type KeyValue, VALUE_BYTES_MAX } from '../../src/kernel/messaging/key-value.js';
import { newId } from '../../src/kernel/ids.js';

/** `here` and `there` are two parts of the service, in two processes if the adapter spans processes. */
export type KeyValueUnderTest = Readonly<{
  here: KeyValue;
  there: KeyValue;
  /** Advances both clocks by this much from the time of writing. */
  ahead: (ms: number) => void;
  close: () => Promise<void>;
}>;

const MINUTE_MS = 60_000;

export function keyValueContract(setUp: () => Promise<KeyValueUnderTest>): void {
  let state: KeyValueUnderTest;
  let here: KeyValue;
  let there: KeyValue;
  beforeAll(async () => {
    state = await setUp();
    ({ here, there } = state);
  });
  beforeEach(() => state.ahead(0));
  afterAll(() => state.close());

  it('returns the last value byte for byte, to every process', async () => {
    const key = newId();
    await here.put(key, 'first');
    await here.put(key, 'ünï\u0000\n\n"{}"');
    expect((await there.get(key))?.value).toBe('ünï\u0000\n\n"{}"');
    expect(await there.get(newId())).toBeUndefined();
  });

  it('distinguishes an empty value from a missing one', async () => {
    const key = newId();
    await here.put(key, '');
    expect((await there.get(key))?.value).toBe('');
  });

  it('drops a value when its time to live has passed, and keeps one without a time to live', async () => {
    const [short, lasting] = [newId(), newId()];
    await here.put(short, 'a', { ttlMs: MINUTE_MS });
    await here.put(lasting, 'b');
    expect((await there.get(short))?.value).toBe('a');
    state.ahead(2 * MINUTE_MS);
    expect(await there.get(short)).toBeUndefined();
    expect((await there.get(lasting))?.value).toBe('b');
  });

  it('replaces the time to live when a value is written again', async () => {
    const key = newId();
    await here.put(key, 'a', { ttlMs: MINUTE_MS });
    await here.put(key, 'b');
    state.ahead(2 * MINUTE_MS);
    expect((await there.get(key))?.value).toBe('b');
  });

  it('creates a value only if there is none that is alive', async () => {
    const key = newId();
    expect(await here.create(key, 'a', { ttlMs: MINUTE_MS })).toBe(true);
    expect(await there.create(key, 'b')).toBe(false);
    state.ahead(2 * MINUTE_MS);
    expect(await there.create(key, 'c')).toBe(true);
    expect((await here.get(key))?.value).toBe('c');
    await here.delete(key);
    expect(await there.create(key, 'd')).toBe(true);
  });

  it('updates a value only at the revision that was read', async () => {
    const key = newId();
    await here.put(key, 'a');
    const read = (await there.get(key))!;
    expect(await there.update(key, 'b', read.revision)).toBe(true);
    expect(await here.update(key, 'c', read.revision)).toBe(false);
    expect((await here.get(key))?.value).toBe('b');
    expect(await here.update(newId(), 'c', read.revision)).toBe(false);
  });

  it('does not update an expired value', async () => {
    const key = newId();
    await here.put(key, 'a', { ttlMs: MINUTE_MS });
    const { revision } = (await here.get(key))!;
    state.ahead(2 * MINUTE_MS);
    expect(await here.update(key, 'b', revision)).toBe(false);
    expect(await there.get(key)).toBeUndefined();
  });

  it('lets exactly one of many creators, and one of many updaters, win', async () => {
    const key = newId();
    const both = Array.from({ length: 20 }, (_, n) => (n % 2 ? here : there));
    const created = await Promise.all(both.map((side, n) => side.create(key, `${n}`)));
    expect(created.filter(Boolean)).toHaveLength(1);
    const { revision } = (await here.get(key))!;
    const updated = await Promise.all(both.map((side, n) => side.update(key, `${n}`, revision)));
    expect(updated.filter(Boolean)).toHaveLength(1);
  });

  it('deletes a value, and with a revision only at that revision', async () => {
    const key = newId();
    await here.put(key, 'a');
    const { revision } = (await here.get(key))!;
    await there.put(key, 'b');
    expect(await here.delete(key, revision)).toBe(false);
    expect((await here.get(key))?.value).toBe('b');
    expect(await here.delete(key, (await here.get(key))!.revision)).toBe(true);
    expect(await there.get(key)).toBeUndefined();
    expect(await here.delete(key)).toBe(true);
    await there.put(key, 'c');
    expect((await here.get(key))?.value).toBe('c');
  });

  it('lists the live keys with a prefix, in order', async () => {
    const scope = newId();
    for (const key of ['b', 'a.2', 'a.1', 'ab', 'a.gone', 'a.old'])
      await here.put(`${scope}.${key}`, 'x', key === 'a.old' ? { ttlMs: 1 } : {});
    await here.delete(`${scope}.a.gone`);
    state.ahead(MINUTE_MS);
    const below = async (prefix: string) => (await there.keys(`${scope}.${prefix}`)).map((key) => key.slice(scope.length + 1));
    expect(await below('')).toEqual(['a.1', 'a.2', 'ab', 'b']);
    expect(await below('a.')).toEqual(['a.1', 'a.2']);
    expect(await below('a')).toEqual(['a.1', 'a.2', 'ab']);
    expect(await below('none.')).toEqual([]);
  });

  it.each([
    'with space',
    'a..b',
    '.',
    '*',
    '>',
    'a.>',
    '$KV',
    'ünï.cödé',
    'user@example.org',
    '=3d',
    '\n',
    'x'.repeat(KEY_BYTES_MAX - 40),
  ])('accepts any text as a key: %p', async (text) => {
    const scope = newId();
    const key = `${scope}.${text}`;
    await here.put(key, 'mine');
    await here.put(`${key}x`, 'other');
    expect((await there.get(key))?.value).toBe('mine');
    expect(await there.keys(`${scope}.`)).toEqual([key, `${key}x`]);
    await here.delete(key);
    expect((await there.get(`${key}x`))?.value).toBe('other');
  });

  it('refuses keys, values and times to live beyond their limits', async () => {
    await expect(here.get('')).rejects.toThrow(RangeError);
    await expect(here.get('x'.repeat(KEY_BYTES_MAX + 1))).rejects.toThrow(RangeError);
    await expect(here.put('k', 'x'.repeat(VALUE_BYTES_MAX + 1))).rejects.toThrow(RangeError);
    await expect(here.create('k', 'x', { ttlMs: KEPT_MS_MAX + 1 })).rejects.toThrow(RangeError);
    await expect(here.update('k', 'x', 1, { ttlMs: 0 })).rejects.toThrow(RangeError);
    await here.put('k', 'x'.repeat(VALUE_BYTES_MAX));
    expect((await there.get('k'))?.value).toHaveLength(VALUE_BYTES_MAX);
  });
}
