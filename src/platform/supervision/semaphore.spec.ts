import { expect, it } from '@jest/globals';
import { Semaphore } from './semaphore.js';

/** Work that reports when it begins, and lasts until it is told to end. */
function pieces(semaphore: Semaphore) {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const start = (name: string) =>
    semaphore.run(() => {
      begun.push(name);
      return new Promise<string>((resolve, reject) => ends.set(name, (error) => (error ? reject(error) : resolve(name))));
    });
  return { begun, start, end: (name: string, error?: Error) => ends.get(name)!(error) };
}

it('runs as much work at a time as it has permits, in order', async () => {
  const { begun, start, end } = pieces(new Semaphore(2));
  const work = ['a', 'b', 'c', 'd'].map(start);
  expect(begun).toEqual(['a', 'b']);
  end('b');
  await expect(work[1]).resolves.toBe('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  end('a');
  await work[0];
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  const late = start('e');
  end('c');
  end('d');
  await Promise.all(work);
  expect(begun.at(-1)).toBe('e');
  end('e');
  await late;
});

it('passes the permit of failed work on', async () => {
  const { begun, start, end } = pieces(new Semaphore(1));
  const [first, second] = ['a', 'b'].map(start);
  end('a', new Error('Broken.'));
  await expect(first).rejects.toThrow('Broken.');
  expect(begun).toEqual(['a', 'b']);
  end('b');
  await second;
  const third = start('c');
  expect(begun).toEqual(['a', 'b', 'c']);
  end('c');
  await third;
});
