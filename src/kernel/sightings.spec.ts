import { expect, it } from '@jest/globals';
import type { Timing } from './timing.js';
import { Sightings } from './sightings.js';

function sightings() {
  let elapsedMs = 5_000;
  const pass = (ms: number) => (elapsedMs += ms);
  return { seen: new Sightings({ elapsedMs: () => elapsedMs } as Timing), pass };
}

it('a thing is as old as the first look that showed it', () => {
  const { seen, pass } = sightings();
  seen.look(['a']);
  pass(1_000);
  seen.look(['a', 'b']);
  expect([seen.ageMs('a'), seen.ageMs('b'), seen.ageMs('unseen')]).toEqual([1_000, 0, 0]);
  pass(1_000);
  expect([seen.ageMs('a'), seen.ageMs('b')]).toEqual([2_000, 1_000]);
});

it('a thing that one look did not show, or whose age starts again, is new', () => {
  const { seen, pass } = sightings();
  seen.look(['a', 'b', 'c']);
  pass(1_000);
  seen.look(['b', 'c']);
  seen.restart('b');
  seen.look(['a', 'b', 'c']);
  expect(['a', 'b', 'c'].map((key) => seen.ageMs(key))).toEqual([0, 0, 1_000]);
});

it('a look returns the things that the last one did not show', () => {
  const { seen } = sightings();
  const looks = [['a', 'b'], ['b', 'c'], ['a', 'b'], []].map((keys) => [...seen.look(keys)]);
  expect(looks).toEqual([['a', 'b'], ['c'], ['a'], []]);
});

it('only the things of the last look are remembered', () => {
  const { seen } = sightings();
  for (let look = 0; look < 100; look++) seen.look([`t${look}`]);
  seen.restart('t0');
  expect(Reflect.get(seen, 'since')).toEqual(new Map([['t99', 5_000]]));
});
