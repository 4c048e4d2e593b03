import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Rejection } from '../../kernel/rejection.js';
import {
  HISTORY_KINDS,
  HISTORY_OFFSET_MAX,
  HISTORY_STATUSES,
  HISTORY_TEXT_CHARACTERS_MAX,
  type HistoryRequest,
  historyQuestion,
  pageOf,
} from './history.policy.js';

describe('the query of a history', () => {
  it.each<[HistoryRequest, object]>([
    [{}, { kinds: HISTORY_KINDS, statuses: HISTORY_STATUSES, text: '', days: 30, limit: 50, offset: 0 }],
    [
      { kind: '', status: '', q: '', days: '', limit: ' ', offset: '' },
      { kinds: HISTORY_KINDS, days: 30, limit: 50, offset: 0 },
    ],
    [
      { kind: 'job', status: 'failed' },
      { kinds: ['job'], statuses: ['failed', 'timeout'] },
    ],
    [{ status: 'timeout' }, { statuses: ['timeout'] }],
    [
      { days: '91', limit: '201', offset: '1e9' },
      { days: 90, limit: 200, offset: HISTORY_OFFSET_MAX },
    ],
    [
      { days: '0', limit: '-1', offset: '-5' },
      { days: 1, limit: 1, offset: 0 },
    ],
    [
      { days: 'many', limit: ['1'], offset: '2.9' },
      { days: 30, limit: 50, offset: 2 },
    ],
    [{ q: 'a\0b\uD800' }, { text: 'a\uFFFDb\uFFFD' }],
    [{ q: 'x'.repeat(HISTORY_TEXT_CHARACTERS_MAX + 1) }, { text: 'x'.repeat(HISTORY_TEXT_CHARACTERS_MAX) }],
  ])('%j', (asked, expected) => expect(historyQuestion(asked)).toMatchObject(expected));

  it.each<HistoryRequest>([{ kind: 'answer' }, { kind: ['job', 'monitor'] }, { status: 'lost' }])('is refused: %j', (asked) =>
    expect(() => historyQuestion(asked)).toThrow(Rejection),
  );
});

describe('a page of several lists', () => {
  const lists = fc
    .array(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 8 }), { maxLength: 5 })
    .map((all) =>
      all.map((times, list) =>
        times.sort((a, b) => b - a).map((time, index) => ({ at: new Date(time), id: `${list}-${index}` })),
      ),
    );

  it('has every row once and in one order for any page size', () => {
    fc.assert(
      fc.property(lists, fc.integer({ min: 1, max: 7 }), (all, limit) => {
        const total = all.flat().length;
        const whole = pageOf(all, 0, total + 1);
        expect([whole.runs.length, whole.hasMore]).toEqual([total, false]);
        expect(whole.runs.every(({ at }, index) => index === 0 || at <= whole.runs[index - 1]!.at)).toBe(true);
        const paged = [];
        for (let offset = 0, more = true; more; offset += limit) {
          // Each list is read up to the end of the page and one row further.
          const page = pageOf(
            all.map((list) => list.slice(0, offset + limit + 1)),
            offset,
            limit,
          );
          paged.push(...page.runs);
          more = page.hasMore;
        }
        expect(paged).toEqual(whole.runs);
      }),
    );
  });
});
