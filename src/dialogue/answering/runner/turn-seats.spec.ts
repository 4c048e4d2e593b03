import { expect, it } from '@jest/globals';
import { TurnSeats } from './turn-seats.js';

it('no more seats are taken than the maximum, and giving a seat back twice counts once', () => {
  const seats = new TurnSeats(2);
  const [one, two] = [seats.tryTake()!, seats.tryTake()!];
  expect(seats.tryTake()).toBeUndefined();
  one();
  one();
  const three = seats.tryTake()!;
  expect(seats.tryTake()).toBeUndefined();
  two();
  three();
  expect([seats.tryTake(), seats.tryTake(), seats.tryTake()].filter((seat) => seat)).toHaveLength(2);
});

it('a seat that is given back goes to the caller that has waited longest', async () => {
  const seats = new TurnSeats(1);
  const leave = seats.tryTake()!;
  const order: string[] = [];
  const first = seats.take().then((next) => (order.push('first'), next));
  const second = seats.take().then((next) => (order.push('second'), next));
  leave();
  expect(seats.tryTake()).toBeUndefined();
  (await first)();
  (await second)();
  expect(order).toEqual(['first', 'second']);
  expect(seats.tryTake()).toBeDefined();
});
