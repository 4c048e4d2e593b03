import { expect, it } from '@jest/globals';
import { LogEntries } from './log-entries.js';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

it('a page reads the texts of its own entries only, and the keys of those before it', async () => {
  const read: (readonly string[])[] = [];
  const limits: number[] = [];
  const rows = Array.from({ length: 9 }, (_, index) => ({ id: `t${index}`, at: at(9 - index) }));
  const chats = {
    newest: async (_: unknown, limit: number) => (limits.push(limit), rows.slice(0, limit)),
    entries: async (ids: readonly string[]) => (read.push(ids), rows.filter(({ id }) => ids.includes(id))),
  };
  const none = { newest: async () => [], entries: async () => [] };
  const log = new LogEntries(
    chats as never,
    none as never,
    none as never,
    none as never,
    { namesOf: async () => new Map() } as never,
  );
  const filter = { ownerId: 'ann', agentId: undefined, level: undefined, search: undefined };
  const { logs, hasMore } = await log.page(filter, undefined, { page: 3, pageSize: 2 });
  expect(logs.map(({ id }) => id)).toEqual(['chat-t4', 'chat-t5']);
  expect([hasMore, limits, read]).toEqual([true, [7], [['t4', 't5']]]);
});
