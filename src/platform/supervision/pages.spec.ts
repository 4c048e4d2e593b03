import { expect, it } from '@jest/globals';
import { systemTiming } from '../system-timing.js';
import { Pages } from './pages.js';

/** A source that gives what it is told to. */
class Source implements AsyncIterable<string>, AsyncIterator<string> {
  asked = 0;
  private give: (result: IteratorResult<string>) => void = () => undefined;
  private fail: (error: Error) => void = () => undefined;

  constructor(private readonly promised: <T>(pending: Promise<T>) => Promise<T> = (pending) => pending) {}

  [Symbol.asyncIterator] = () => this;

  next(): Promise<IteratorResult<string>> {
    this.asked++;
    const pending = new Promise<IteratorResult<string>>((resolve, reject) => ([this.give, this.fail] = [resolve, reject]));
    return this.promised(pending);
  }

  has(value: string): void {
    this.give({ value, done: false });
  }

  breaks(): void {
    this.fail(new Error('It broke.'));
  }
}

it('tells whether a page comes in time, and then gives it', async () => {
  const source = new Source();
  const pages = new Pages(source, () => source.breaks());
  expect(await pages.hasNextWithin(1, systemTiming)).toBe(false);
  const waiting = pages.hasNextWithin(60_000, systemTiming);
  source.has('a');
  expect([await waiting, await pages.next(), source.asked]).toEqual([true, 'a', 2]);
  expect(await pages.hasNextWithin(1, systemTiming)).toBe(false);
  source.has('b');
  expect([await pages.next(), await pages.hasNextWithin(1, systemTiming)]).toEqual(['b', false]);
  await pages.close();
});

it('has a next page also if that is an error', async () => {
  const source = new Source();
  const pages = new Pages(source, () => undefined);
  source.breaks();
  expect(await pages.hasNextWithin(60_000, systemTiming)).toBe(true);
  await expect(pages.next()).rejects.toThrow('It broke.');
});

it('adds nothing to a page that does not come, however often it is asked for', async () => {
  let reactions = 0;
  const source = new Source((pending) => {
    const then = pending.then.bind(pending);
    pending.then = ((...handlers: Parameters<typeof then>) => {
      reactions++;
      return then(...handlers);
    }) as typeof then;
    return pending;
  });
  const pages = new Pages(source, () => source.breaks());
  for (let times = 0; times < 100; times++) await pages.hasNextWithin(0, systemTiming);
  expect(reactions).toBe(1);
  await pages.close();
});
