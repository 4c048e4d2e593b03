import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JSON_ENTRIES_MAX } from '../../../kernel/bounded-json.js';
import {
  canonical,
  CONTENT_CHARACTERS_MAX,
  contentOfJson,
  contentOfText,
  gistOf,
  numberIn,
  valueAt,
} from '../monitor/content.policy.js';
import type { MonitorCheck, Seen } from '../monitor/monitor.events.js';
import { ITEMS_MAX, observe } from './observe.js';
import { Patterns } from '../patterns/patterns.port.js';

class PlainPatterns extends Patterns {
  matches(pattern: string, text: string, max: number): Promise<readonly string[]> {
    return Promise.resolve([...text.matchAll(new RegExp(pattern, 'g'))].slice(0, max).map(([match]) => match));
  }
}

/** Whether each of the contents fires. The first one is the baseline. */
async function firings(check: MonitorCheck, ...contents: readonly unknown[]): Promise<readonly boolean[]> {
  let before: Seen | undefined;
  const fired: boolean[] = [];
  for (const content of contents) {
    const { seen, fires } = await observe(check, contentOfJson(content), before, new PlainPatterns());
    fired.push(fires);
    before = seen;
  }
  return fired;
}
const path = { itemsPath: null, idField: null };

describe('a check', () => {
  it('for changes fires at each change, but not for another order of the same fields', async () =>
    expect(await firings({ type: 'changed' }, { a: 1, b: 2 }, { b: 2, a: 1 }, { a: 2, b: 2 })).toEqual([false, false, true]));

  it('for new items fires for items that were never there, identified by id or line', async () => {
    const items = (...ids: number[]) => ({ data: { items: ids.map((id) => ({ id, seen: Math.random() })) } });
    const check = { type: 'new_items', itemsPath: 'data.items', idField: 'id' } as const;
    expect(await firings(check, items(1, 2), items(2, 1), items(2), items(1, 2), items(3, 2))).toEqual([false, false, false, false, true]); // oxfmt-ignore
    expect(await firings({ type: 'new_items', ...path }, 'a\nb', 'b\n\na', 'a\nc')).toEqual([false, false, true]);
  });

  it('remembers a limited number of items, and says that it looks at no more', async () => {
    const lines = Array.from({ length: ITEMS_MAX + 50 }, (_, index) => `line ${index}`).join('\n');
    const { seen } = await observe({ type: 'new_items', ...path }, contentOfText(lines), undefined, new PlainPatterns());
    expect([seen.items.length, seen.gist]).toEqual([ITEMS_MAX, '550 items, of which only the first 500 are watched']);
  });

  it('reads no more of a list than the items that it watches', async () => {
    let read = 0;
    const item = { get id() { return ++read; } }; // oxfmt-ignore
    const content = { text: '', json: Array.from({ length: 100_000 }, () => item) };
    const { seen } = await observe(
      { type: 'new_items', itemsPath: null, idField: 'id' },
      content,
      undefined,
      new PlainPatterns(),
    );
    expect(seen.gist).toBe('100000 items, of which only the first 500 are watched');
    expect(read).toBeLessThanOrEqual(3 * ITEMS_MAX);
  });

  it('for a pattern fires for a new match, or when there is no match any more', async () => {
    const check = (when: 'match' | 'no_match') => ({ type: 'regex', pattern: '[A-Z]-\\d', when }) as const;
    expect(await firings(check('match'), 'A-1', 'A-1 again', 'A-1 B-2', '', 'A-1')).toEqual([false, false, true, false, false]);
    expect(await firings(check('no_match'), 'A-1', 'none', 'none still', 'A-1', '')).toEqual([false, true, false, false, true]);
  });

  it('for a threshold fires when the value starts to satisfy it', async () => {
    const check = { type: 'threshold', valuePath: null, op: '<', value: 90 } as const;
    expect(await firings(check, '$95.10', '$89', '$88', '$91', '$1,000', '$89.9')).toEqual([
      false,
      true,
      false,
      false,
      false,
      true,
    ]);
    expect(await firings({ ...check, valuePath: 'items[0].price' }, ...[95, 80].map((price) => ({ items: [{ price }] })))).toEqual([false, true]); // oxfmt-ignore
    expect(await firings(check, '$80', '$79')).toEqual([false, false]);
  });

  it('for a status fires when it becomes one of the wanted ones', async () => {
    const check = { type: 'status', valuePath: 'state', terminal: ['done', 'failed'] } as const;
    const states = ['queued', 'running', 'Done', 'Done', 'failed'].map((state) => ({ state }));
    expect(await firings(check, ...states)).toEqual([false, false, true, false, true]);
  });

  it.each<[MonitorCheck, unknown]>([
    [{ type: 'threshold', valuePath: null, op: '<', value: 1 }, 'no number'],
    [{ type: 'threshold', valuePath: 'a.b', op: '<', value: 1 }, { a: {} }],
    [{ type: 'new_items', itemsPath: 'a', idField: null }, { a: 1 }],
    [{ type: 'new_items', itemsPath: null, idField: 'id' }, [{ name: 'x' }]],
    [{ type: 'status', valuePath: 'a', terminal: ['x'] }, { a: { b: 1 } }],
  ])('of the kind %j fails on the content %j', async (check, content) => {
    await expect(firings(check, content)).rejects.toThrow(/There is no|An item has no/);
  });
});

describe('the content of a source', () => {
  it('is truncated at its maximum length', () =>
    expect(contentOfText('x'.repeat(CONTENT_CHARACTERS_MAX + 1)).text).toHaveLength(CONTENT_CHARACTERS_MAX));
  it('is written only to its maximum length', () => {
    let read = 0;
    const field = { get id() { return ++read; } }; // oxfmt-ignore
    expect(contentOfJson(Array.from({ length: CONTENT_CHARACTERS_MAX }, () => field)).text).toHaveLength(CONTENT_CHARACTERS_MAX);
    expect(read).toBeLessThan(CONTENT_CHARACTERS_MAX / 2);
  });
  it('is only a text if it holds more entries than are parsed', () => {
    expect(contentOfText(JSON.stringify(Array(JSON_ENTRIES_MAX).fill(0))).json).toHaveLength(JSON_ENTRIES_MAX);
    expect(contentOfText(JSON.stringify(Array(JSON_ENTRIES_MAX + 1).fill(0))).json).toBeUndefined();
  });
  it('is JSON with sorted keys', () =>
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(40), (value, max) => {
        const whole = JSON.stringify(value, (_, each: unknown) =>
          typeof each === 'object' && each !== null && !Array.isArray(each)
            ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
            : each,
        );
        expect(canonical(value)).toBe(whole);
        expect(canonical(value, max).slice(0, max)).toBe(whole.slice(0, max));
      }),
    ));
  it('has values at paths, but no inherited properties', () => {
    expect(valueAt({ a: [{ b: 1 }] }, 'a[0].b')).toBe(1);
    expect(valueAt({ a: 1 }, 'constructor.name')).toBeUndefined();
  });
  it('has numbers in various notations', () => expect([numberIn('about -1,234.5 Kč'), numberIn(7)]).toEqual([-1234.5, 7]));
  it('is summarised in one line', () => expect([gistOf(' a\n b '), gistOf('x'.repeat(300)).length]).toEqual(['a b', 200]));
});
