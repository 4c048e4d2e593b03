import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Turns } from './turns.js';

const turnsOf = (...items: readonly string[]): Turns<string> => {
  const turns = new Turns<string>();
  for (const item of items) turns.add(item[0]!, item);
  return turns;
};
const all = (turns: Turns<string>, rank?: (ownerId: string) => number): readonly string[] => {
  const taken: string[] = [];
  for (let item; (item = turns.next(rank)) !== undefined;) taken.push(item);
  return taken;
};

it('serves owners in turn, and the items of each first in, first out', () => {
  expect(all(turnsOf('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('makes a new owner wait for one item of each other owner, not for all', () => {
  const turns = turnsOf('a1', 'a2', 'a3', 'b1', 'b2');
  turns.next();
  turns.add('c', 'c1');
  expect(all(turns)).toEqual(['b1', 'a2', 'c1', 'b2', 'a3']);
});

it('serves items that an owner adds during its turn after those that the others have added', () => {
  const turns = turnsOf('a1');
  turns.next();
  for (const item of ['a2', 'b1', 'c1']) turns.add(item[0]!, item);
  turns.done('a');
  turns.done('nobody');
  expect(all(turns)).toEqual(['b1', 'c1', 'a2']);
});

it('serves the lowest rank first and Infinity never', () => {
  const rank = { a: 1, b: 0, c: Infinity } as Readonly<Record<string, number>>;
  const turns = turnsOf('a1', 'c1', 'b1', 'b2');
  expect(all(turns, (ownerId) => rank[ownerId]!)).toEqual(['b1', 'b2', 'a1']);
  expect(turns.size).toBe(1);
});

it('gives up the newest item of the owner with the most items', () => {
  const turns = turnsOf('a1', 'b1', 'b2', 'b3');
  expect([turns.giveUp(), turns.giveUp()]).toEqual(['b3', 'b2']);
  turns.remove('a1');
  expect(all(turns)).toEqual(['b1']);
  expect(turns.giveUp()).toBeUndefined();
});

it('serves no owner twice while another one waits, and loses no item', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { freq: 3 })), (steps) => {
      const turns = new Turns<Readonly<{ ownerId: string }>>();
      const passed = new Map<string, string[]>();
      let [left, taken] = [0, 0];
      for (const ownerId of steps) {
        if (ownerId !== null) {
          turns.add(ownerId, { ownerId });
          left++;
          continue;
        }
        const next = turns.next();
        if (!next) continue;
        taken++;
        passed.delete(next.ownerId);
        for (const other of ['a', 'b', 'c', 'd']) {
          if (turns.of(other) === 0 || other === next.ownerId) continue;
          const before = passed.get(other) ?? [];
          expect(before).not.toContain(next.ownerId);
          passed.set(other, [...before, next.ownerId]);
        }
      }
      expect(turns.size).toBe(left - taken);
    }),
  );
});
