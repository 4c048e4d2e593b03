import { describe, expect, it } from '@jest/globals';
import { inputItemsOf, type ItemsQuery, ITEMS_LIMIT_MAX } from './input-items.policy.js';
import type { ResponseCreated } from './response.events.js';

const input = Array.from({ length: ITEMS_LIMIT_MAX + 1 }, (_, n) => ({ type: 'message', role: 'user', content: `${n}` }));
const created = { responseId: 'r', input } as unknown as ResponseCreated['data'];

type Page = Readonly<{ data: readonly Readonly<{ id: string; content: string }>[]; has_more: boolean }>;
const page = (query: ItemsQuery) => inputItemsOf(created, query) as Page;

describe('a page of input items', () => {
  it('has the requested number of items, 20 by default', () => {
    expect(page({}).data).toHaveLength(20);
    for (const limit of [1, ITEMS_LIMIT_MAX]) expect(page({ limit: `${limit}` }).data).toHaveLength(limit);
    expect(page({ limit: '1' }).data[0]!.content).toBe(`${ITEMS_LIMIT_MAX}`);
  });

  it.each(['0', '-1', `${ITEMS_LIMIT_MAX + 1}`, '1.5', 'all', ''])('is refused with the limit %p', (limit) => {
    expect(() => page({ limit })).toThrow(
      expect.objectContaining({ code: 'invalid-request', message: `limit must be a whole number from 1 to ${ITEMS_LIMIT_MAX}.` }),
    );
  });

  it('continues after the last item of the previous page', () => {
    const first = page({ limit: `${ITEMS_LIMIT_MAX}`, order: 'asc' });
    expect(first.has_more).toBe(true);
    const last = page({ limit: '2', order: 'asc', after: first.data.at(-1)!.id });
    expect([last.data.map(({ content }) => content), last.has_more]).toEqual([[`${ITEMS_LIMIT_MAX}`], false]);
    expect(() => page({ after: 'msg_x' })).toThrow(/^after names no item/);
    expect(() => page({ order: 'up' })).toThrow(/^order must be/);
  });
});
