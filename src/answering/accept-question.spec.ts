import { expect, it } from '@jest/globals';
import type { CommandBus } from '@nestjs/cqrs';
import { InMemoryEventStore } from '../../test/support/in-memory-event-store.js';
import { answeringOptions, cause, settings } from '../../test/support/turns.js';
import { conversation, remove } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import type { SignedInUser } from '../identity/caller.js';
import { LOG_START } from '../kernel/event-store.js';
import { newId } from '../kernel/ids.js';
import { Streams } from '../kernel/streams.js';
import { InProcessWorkQueue } from '../platform/work-queue/in-process-work-queue.js';
import { QuestionDesk } from './accept-question.js';
import { type AskQuestion, AskQuestionHandler } from './ask-question.command.js';
import type { QuestionRequest } from './question.dto.js';
import type { QuestionResolver, ResolvedQuestion } from './resolve-question.js';

const caller = (): SignedInUser => ({
  kind: 'user',
  userId: 'alice',
  roles: ['user'],
  credential: 'session-token',
  cause: { ...cause, correlationId: newId() },
});

/** The desk over a log of its own, with a resolver that finds everything in order. */
function desk() {
  const store = new InMemoryEventStore();
  const streams = new Streams(store);
  const handler = new AskQuestionHandler(streams);
  const commands = { execute: (command: AskQuestion) => handler.execute(command) } as unknown as CommandBus;
  const resolver = {
    resolve: async (request: QuestionRequest): Promise<ResolvedQuestion> => ({
      question: request.question!,
      ownerId: 'alice',
      agent: undefined,
      conversationId: request.conversation_id ?? undefined,
      index: request.index ?? null,
      visibility: 'listed',
      history: [],
      sharedUsage: false,
      settings,
    }),
  } as unknown as QuestionResolver;
  const accepting = new QuestionDesk(
    resolver,
    commands,
    store,
    streams,
    new InProcessWorkQueue(),
    { now: () => new Date() },
    answeringOptions,
  );
  const accept = (request: QuestionRequest, idempotencyKey?: string) =>
    accepting.accept(request, caller(), { route: 'stream', idempotencyKey, origin: undefined });
  const eventCount = async () => {
    let count = 0;
    for await (const page of store.readAll({ after: LOG_START })) count += page.events.length;
    return count;
  };
  return { streams, accept, eventCount };
}

it('a repeated request finds the turn that its first one began, also when both come at once', async () => {
  const { accept } = desk();
  const request = { question: 'Why?' };
  const [one, other] = await Promise.all([accept(request, 'k'), accept(request, 'k')]);
  const third = await accept(request, 'k');
  expect(new Set([one, other, third].map(({ turnId }) => turnId)).size).toBe(1);
  expect([one.replayed, other.replayed].sort()).toEqual([false, true]);
  expect(third.replayed).toBe(true);
});

it('another request under the same key is refused', async () => {
  const { accept } = desk();
  await accept({ question: 'Why?' }, 'k');
  await expect(accept({ question: 'How?' }, 'k')).rejects.toMatchObject({ code: 'idempotency-key-reused' });
});

it('a request that the conversation does not take leaves no event and uses no key', async () => {
  const { accept, eventCount } = desk();
  const { conversationId } = await accept({ question: 'Why?' });
  const before = await eventCount();
  const wrong = { question: 'And then?', conversation_id: conversationId, index: 7 };
  await expect(accept(wrong, 'k')).rejects.toMatchObject({ code: 'index-out-of-range' });
  expect(await eventCount()).toBe(before);
  await expect(accept({ ...wrong, index: 1 }, 'k')).resolves.toMatchObject({ conversationId, replayed: false });
});

it('a key opens no conversation that was deleted since', async () => {
  const { accept, streams } = desk();
  const { conversationId } = await accept({ question: 'Why?' }, 'k');
  await streams.transact(conversationStream(conversationId), conversation, remove, cause);
  await expect(accept({ question: 'Why?' }, 'k')).rejects.toMatchObject({ code: 'conversation-not-found' });
});
