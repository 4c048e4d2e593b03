import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { categoryOf, type LogFilter } from '../../../kernel/event-sourcing/event-store.js';
import { streamPattern } from './stream-pattern.js';

const category = fc.string({ unit: fc.constantFrom(...'ab.*+?^${}()|[]/\\ ä😀'), minLength: 1, maxLength: 4 });
const stream = fc.tuple(category, fc.constantFrom('', '-', '-1', '-a-b')).map((parts) => parts.join(''));

const wanted = ({ categories, exceptCategories }: LogFilter, name: string): boolean =>
  !name.startsWith('$') && (categories?.includes(categoryOf(name)) ?? true) && !exceptCategories?.includes(categoryOf(name));

it('matches exactly the streams of the filter', () => {
  const filter = fc.record(
    { categories: fc.array(category, { maxLength: 3 }), exceptCategories: fc.array(category, { maxLength: 3 }) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(filter, stream, (filter, name) =>
      expect(new RegExp(streamPattern(filter), 'u').test(name)).toBe(wanted(filter, name)),
    ),
    { numRuns: 2000 },
  );
});

it.each([
  [{}, '^(?!\\$)'],
  [{ categories: ['user', 'agent'] }, '^(?!\\$)(?:user(?:-|$)|agent(?:-|$))'],
  [{ exceptCategories: ['message'] }, '^(?!\\$|message(?:-|$))'],
  [{ categories: [] }, '(?!)'],
])('has no superfluous parts for %j', (filter, pattern) => expect(streamPattern(filter)).toBe(pattern));
