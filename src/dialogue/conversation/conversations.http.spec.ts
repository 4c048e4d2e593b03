import { expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import type { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import type { Commands } from '../../kernel/commands.js';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { LastWrites } from '../../kernel/event-sourcing/last-writes.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import type { DeleteConversation } from './conversation.commands.js';
import { ConversationsController } from './conversations.http.js';

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
  const controller = new ConversationsController(
    { listedIds: async () => ids } as unknown as ConversationQueries,
    undefined as never,
    { execute } as unknown as Commands,
    { reached: async (_names: unknown, position?: bigint) => void reached.push(position) } as unknown as Freshness,
    new LastWrites(),
    undefined as never,
    undefined as never,
    undefined as never,
  );
  const reply = { header: () => reply } as unknown as FastifyReply;
  await controller.deleteAll({ userId: 'ann', cause: undefined } as unknown as SignedInUser, reply);
  expect(new Set(deleted)).toEqual(new Set(ids));
  expect(most).toBeGreaterThan(10);
  expect(most).toBeLessThan(100);
  expect(reached.at(-1)).toBe(998n);
});
