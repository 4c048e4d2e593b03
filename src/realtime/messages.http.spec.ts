import { expect, it } from '@jest/globals';
import { REVISION_MAX } from '../kernel/event-store.js';
import { cursorOf } from './messages.http.js';

it.each([
  [undefined, -1],
  ['0', 0],
  [' 17 ', 17],
  [String(REVISION_MAX), REVISION_MAX - 1],
  ['9'.repeat(400), REVISION_MAX - 1],
])('the cursor %j is one that a store can be asked with', (given, cursor) => expect(cursorOf(given)).toBe(cursor));

it.each(['', 'x', '-1', '1.5', '1e3', '0x10', '1,2'])('%j is no cursor', (given) =>
  expect(() => cursorOf(given)).toThrow('last_event_id must be a whole number'),
);
