import { expect, it, jest } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import type { ConversationSearchQueries } from '../../../projections/conversations/conversation-search.queries.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { ReadModels } from '../../../projections/read-models.js';
import type { Commands } from '../../kernel/commands.js';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { newId } from '../../kernel/ids.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import type { DeleteConversation } from './conversation.commands.js';
import { ConversationsController } from './conversations.http.js';

/** A controller over these read models and commands. */
const controllerOver = (conversations: object, commands: object, freshness: object, searched?: object) =>
  new ConversationsController(
    conversations as ConversationQueries,
    searched as ConversationSearchQueries,
    commands as Commands,
    freshness as Freshness,
    new LastWrites(),
    undefined as never,
    undefined as never,
    undefined as never,
  );

const userOf = (userId: string) => ({ kind: 'user', userId, cause: undefined }) as unknown as SignedInUser;

it('deletes all conversations with bounded concurrency and waits until the newest deletion is readable', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `c${index}`);
  const deleted: string[] = [];
  let [now, most] = [0, 0];
  const execute = async ({ conversationId }: DeleteConversation) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    deleted.push(conversationId);
    return conversationId === 'c0' ? undefined : 1_000n - BigInt(deleted.length);
  };
  const reached: (bigint | undefined)[] = [];
  const controller = controllerOver(
    { listedIds: async () => ids },
    { execute },
    { reached: async (_names: unknown, position?: bigint) => void reached.push(position) },
  );
  const reply = { header: () => reply } as unknown as FastifyReply;
  await controller.deleteAll(userOf('ann'), reply);
  expect(new Set(deleted)).toEqual(new Set(ids));
  expect(most).toBeGreaterThan(10);
  expect(most).toBeLessThan(100);
  expect(reached.at(-1)).toBe(998n);
});

it.each([
  ['99', 99],
  ['100', 100],
  ['101', 100],
  ['1000', 100],
])('a page of found conversations with the limit %s has at most %i', async (limit, most) => {
  const limits: number[] = [];
  const search = async (_owner: string, _text: string, count: number) => (limits.push(count), []);
  await controllerOver({}, {}, { reached: async () => undefined }, { search }).search(userOf('ann'), 'tea', limit);
  expect(limits).toEqual([most]);
});

it('makes the same page of the same user once, and never mixes users, pages and conversations', async () => {
  const remembered = new Map<string, unknown>();
  let queried = 0;
  const conversations = new ConversationQueries(
    new ReadModels(undefined as never, async (projection, key, query) => {
      expect(projection).toBe('conversations');
      if (!remembered.has(key)) remembered.set(key, await query());
      return remembered.get(key) as never;
    }),
  );
  const record = (...asked: unknown[]) => (queried++, { id: JSON.stringify(asked), shareId: null });
  jest.spyOn(conversations, 'listed').mockImplementation(async (...asked) => [record(...asked) as never]);
  jest.spyOn(conversations, 'withTurns').mockImplementation(async (...asked) => record(...asked) as never);
  const execute = async () => ({ position: undefined });
  const controller = controllerOver(conversations, { execute }, { reached: async () => true });
  const sent: string[] = [];
  const reply = { header: () => reply, send: (text: string) => void sent.push(text) } as unknown as FastifyReply;
  const [day, place, id, other] = ['2026-01-02T00:00:00.000Z', newId(), newId(), newId()];
  const lists = [[], ['5'], ['5', day], ['5', day, place], ['30', day, place], ['30', '2026-01-03', place]];
  const readAll = async () => {
    for (const user of ['ann', 'ann 5', 'ann","5', 'bob'].map(userOf)) {
      for (const page of lists) await controller.list(user, reply, ...page);
      for (const each of [id, other]) await controller.single(user, reply, each);
    }
  };
  await readAll();
  const first = sent.splice(0);
  await readAll();
  expect(new Set(first).size).toBe(4 * (lists.length + 2));
  expect([sent, queried]).toEqual([first, first.length]);
});
