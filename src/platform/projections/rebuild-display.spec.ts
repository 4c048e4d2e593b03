import { expect, it } from '@jest/globals';
import type { RebuildOutcome } from './rebuild.js';
import { outcomeJson, outcomeLines, verdictOf } from './rebuild-display.js';

const sums = [{ table: 'turn', columns: 'a', rows: 3, sum: '9' }];
const outcome: RebuildOutcome = {
  projection: 'conversations',
  events: 500,
  seconds: 2,
  resumedAt: 7n,
  comparison: { position: 99n, live: sums, rebuilt: sums, difference: undefined },
  parked: [],
  swapped: true,
};

it('prints the outcome of a rebuild as text', () => {
  expect([...outcomeLines(outcome)]).toEqual([
    'conversations: 500 events in 2.0 s (250/s), resumed after position 7; in place.',
    '  At position 99 the live rows were the same: turn 3.',
  ]);
  const difference = { table: 'turn', key: { turn_id: 't' }, live: null, rebuilt: { turn_id: 't', n: 1 } };
  const parked = [{ entity: 'conversation-1', position: '3', error: 'Error: bad', since: new Date(), held: 4 }];
  const lines = [...outcomeLines({ ...outcome, swapped: false, parked, comparison: { ...outcome.comparison!, difference } })];
  expect(lines).toEqual([
    expect.stringContaining('nothing was changed'),
    '  At position 99 the live rows differed, first in turn at {"turn_id":"t"}:',
    '    live:    null',
    '    rebuilt: {"turn_id":"t","n":1}',
    '  Parked: conversation-1, 4 events held: Error: bad',
  ]);
  const late = { ...outcome, comparison: { ...outcome.comparison!, difference, lateFor: 120n } };
  expect([...outcomeLines({ ...late, swapped: false })].at(-1)).toContain('have yet to reach position 120');
  expect([...outcomeLines({ ...outcome, comparison: undefined })][1]).toContain('no live rows of this version');
});

it('tells rows that differ from rows that could not be compared', () => {
  const difference = { table: 'turn', key: { turn_id: 't' }, live: null, rebuilt: { turn_id: 't' } };
  const differs = { ...outcome.comparison!, difference };
  expect(verdictOf(outcome)).toBe('same');
  expect(verdictOf({ ...outcome, comparison: differs })).toBe('differs');
  expect(verdictOf({ ...outcome, comparison: { ...differs, lateFor: 120n } })).toBe('unknown');
  expect(verdictOf({ ...outcome, comparison: undefined })).toBe('unknown');
});

it('prints the outcome as JSON, with positions as strings', () => {
  expect(JSON.parse(outcomeJson(outcome))).toMatchObject({ resumedAt: '7', comparison: { position: '99' }, swapped: true });
});
