import { describe, expect, it } from '@jest/globals';
import { KeyedQueue } from './keyed-queue.js';

const gate = () => {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
};
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a keyed queue', () => {
  it('keeps the order within a key and does not block other keys', async () => {
    const lanes = new KeyedQueue(4, 10);
    const slow = gate();
    const seen: string[] = [];
    lanes.add('a', (turn) => turn(() => slow.opened.then(() => void seen.push('a1'))));
    lanes.add('a', (turn) => turn(async () => void seen.push('a2')));
    lanes.add('b', (turn) => turn(async () => void seen.push('b1')));
    await settle();
    slow.open();
    await lanes.idle();
    expect(seen).toEqual(['b1', 'a1', 'a2']);
  });

  it('bounds the number of concurrent runs', async () => {
    const lanes = new KeyedQueue(3, 100);
    let running = 0;
    let most = 0;
    for (let n = 0; n < 20; n++) {
      lanes.add(`${n}`, (turn) =>
        turn(async () => {
          most = Math.max(most, ++running);
          await settle();
          running--;
        }),
      );
    }
    await lanes.idle();
    expect(most).toBe(3);
  });

  it('bounds the number of waiting items', async () => {
    const lanes = new KeyedQueue(1, 1);
    const slow = gate();
    await lanes.room();
    lanes.add('a', (turn) => turn(() => slow.opened));
    let hasRoom = false;
    const waiting = lanes.room().then(() => (hasRoom = true));
    await settle();
    expect(hasRoom).toBe(false);
    slow.open();
    await waiting;
  });
});
