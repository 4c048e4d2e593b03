import { once } from 'node:events';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { framesOf, LINGER_MS } from './response-frames.js';
import { StreamedResponse } from './streamed-response.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

/** A response whose reader has left after its first frame. */
async function left() {
  const pieces = new Readable({ read: () => undefined });
  pieces.push('data: first\n\n');
  for await (const frame of framesOf(new StreamedResponse(pieces, {}))) {
    expect(frame).toBe('first');
    break;
  }
  return pieces;
}

describe('a response whose reader has left', () => {
  it('is read to its end, so that its connection can be reused, and leaves no timer', async () => {
    const pieces = await left();
    pieces.push('data: second\n\n');
    const closed = once(pieces, 'close');
    pieces.push(null);
    await closed;
    expect(pieces.readableEnded).toBe(true);
    const destroy = jest.spyOn(pieces, 'destroy');
    jest.advanceTimersByTime(LINGER_MS);
    expect(destroy).not.toHaveBeenCalled();
  });

  it('is ended after LINGER_MS', async () => {
    const pieces = await left();
    jest.advanceTimersByTime(LINGER_MS - 1);
    expect(pieces.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(pieces.destroyed).toBe(true);
  });
});
