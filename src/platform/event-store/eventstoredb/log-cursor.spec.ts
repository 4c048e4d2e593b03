import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { LogPage } from '../../../kernel/event-sourcing/event-store.js';
import type { Answer } from './answer.js';
import { LogFollow, LogRead } from './log-cursor.js';

const sentEvent = (position: bigint, type = 'happened'): Answer => ({
  kind: 'event',
  event: { id: `${position}`, type, data: '', metadata: '', stream: 'thing-1', revision: 0, position, at: new Date(0) },
  bytes: 0,
});

/** What the server sends for a read: it starts with the event at the position, if the filter selects it. */
const sent = (log: readonly bigint[], from: bigint, count: number) =>
  log
    .filter((position) => position >= from)
    .slice(0, count)
    .map((position) => sentEvent(position));

const positions = (pages: readonly LogPage[]) => pages.flatMap(({ events }) => events.map(({ position }) => position));

it('reads up to the limit and to the end of the log, whatever lies at its start, in answers of any size and with interruptions', async () => {
  const logs = fc
    .uniqueArray(fc.bigInt({ min: 0n, max: 40n }), { maxLength: 20 })
    .map((log) => log.sort((a, b) => Number(a - b)));
  const takes = fc.array(fc.record({ size: fc.integer({ min: 1, max: 4 }), breaks: fc.boolean() }), { minLength: 1 });
  const places = fc.bigInt({ min: -1n, max: 41n });
  await fc.assert(
    fc.asyncProperty(logs, places, fc.integer({ min: 1, max: 8 }), takes, async (log, after, limit, chunks) => {
      const cursor = new LogRead(after, {}, limit, () => Promise.resolve(50n));
      const pages: LogPage[] = [];
      let taken = 0;
      for (let isOver = false; !isOver && !cursor.done;) {
        const read = (await cursor.request()).getOptions()!;
        const from = BigInt(read.getAll()!.getPosition()?.getCommitPosition() ?? 0);
        const answers = sent(log, from, Number(read.getCount()));
        for (isOver = true; isOver && answers.length > 0;) {
          const { size, breaks } = chunks[taken++ % chunks.length]!;
          const page = cursor.take(answers.splice(0, size));
          if (page) pages.push(page);
          isOver = !(page && breaks);
        }
      }
      const last = cursor.end();
      const wanted = log.filter((position) => position > after);
      expect(positions(pages)).toEqual(wanted.slice(0, limit));
      for (const { events, position } of pages) expect(position).toBe(events.at(-1)!.position);
      expect(last).toEqual(wanted.length < limit ? { events: [], position: 50n, caughtUp: true } : undefined);
    }),
  );
});

it('is not caught up by a read in which the system events of the server took the places of others', async () => {
  const cursor = new LogRead(-1n, {}, 1, () => Promise.resolve(50n));
  await cursor.request();
  expect(cursor.take([sentEvent(3n, '$metadata'), sentEvent(4n, '$metadata')])).toBeUndefined();
  expect(cursor.end()).toEqual({ events: [], position: 4n, caughtUp: false });
});

it('tells that it fell behind, also without an event', async () => {
  const cursor = new LogFollow(5n, {}, () => Promise.resolve(9n));
  await cursor.request();
  expect(cursor.take([{ kind: 'caught-up' }])).toEqual({ events: [], position: 9n, caughtUp: true });
  expect(cursor.take([{ kind: 'fell-behind' }])).toEqual({ events: [], position: 9n, caughtUp: false });
});

it('is not caught up again until the server says so after it has subscribed anew', async () => {
  const cursor = new LogFollow(5n, {}, () => Promise.resolve(9n));
  await cursor.request();
  cursor.take([{ kind: 'caught-up' }]);
  await cursor.request();
  expect(cursor.take([sentEvent(10n)])).toMatchObject({ position: 10n, caughtUp: false });
});
