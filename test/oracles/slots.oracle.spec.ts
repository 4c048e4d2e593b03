import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { slotsAfter } from '../../src/triggers/schedules/schedule/slots.policy.js';
import { DAYS, type Days, type Fields, recurrences } from './recurrence-oracle.js';

function slotsOn({ timezone, from, until }: Pick<Days, 'timezone' | 'from' | 'until'>, fields: Fields): readonly string[] {
  const slots: string[] = [];
  for (const slot of slotsAfter({ kind: 'recurring', cron: fields.join(' '), timezone, endAt: null }, new Date(from))) {
    if (slot.getTime() > until) break;
    slots.push(slot.toISOString());
  }
  return slots;
}

describe.each(Object.entries(DAYS))('%s', (_, window) => {
  it('has the same slots as a check of every minute', () => {
    fc.assert(
      fc.property(recurrences, (fields) => expect(slotsOn(window, fields)).toEqual(window.slots(fields))),
      { numRuns: 100 },
    );
  });

  it('has the same slots in any two halves as in the whole', () => {
    fc.assert(
      fc.property(recurrences, fc.integer({ min: window.from, max: window.until }), (fields, middle) => {
        const halves = [
          { ...window, until: middle },
          { ...window, from: middle },
        ];
        expect(halves.flatMap((half) => slotsOn(half, fields))).toEqual(slotsOn(window, fields));
      }),
      { numRuns: 50 },
    );
  });
});
