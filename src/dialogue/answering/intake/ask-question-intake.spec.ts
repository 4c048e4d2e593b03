import { noInputGuard } from '../../../../test/support/guardrails.js';
import { LogEarlierTurns } from '../../../../test/support/log-earlier-turns.js';
import { expect, it } from '@jest/globals';
import type { Commands } from '../../../kernel/commands.js';
import { idempotencyKeys } from '../../../../test/support/idempotency-keys.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { NoLimits } from '../../../../test/support/no-limits.js';
import { answeringOptions, cause, settings } from '../../../../test/support/turns.js';
import { conversation, remove } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import type { SignedInUser } from '../../../resources/identity/caller.js';
import { LOG_START } from '../../../kernel/event-sourcing/event-store.js';
import { newId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { type Admission, UsageLimits } from '../../../work/limits/usage-limits.port.js';
import { InProcessWorkQueue } from '../../../platform/messaging/work-queue/in-process-work-queue.js';
import { AskQuestionIntake } from './ask-question-intake.js';
import { type AskQuestion, AskQuestionHandler } from './question.commands.js';
import type { QuestionRequest } from './question.dto.js';
import type { QuestionResolver, ResolvedQuestion } from './resolve-question.js';
import { systemIds } from '../../../platform/system-ids.js';
import { systemTiming } from '../../../platform/system-timing.js';

const caller = (): SignedInUser => ({
  kind: 'user',
  userId: 'alice',
  roles: ['user'],
  credential: 'session-token',
  cause: { ...cause, correlationId: newId() },
});

/** The intake over a log of its own, with a resolver that finds everything in order. */
function intake(limits: UsageLimits = new NoLimits()) {
  const store = new InMemoryEventStore();
  const streams = new Streams(store, systemTiming);
  const earlierTurns = new LogEarlierTurns(store);
  const handler = new AskQuestionHandler(streams, earlierTurns);
  const commands = { execute: (command: AskQuestion) => handler.execute(command) } as unknown as Commands;
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
  const accepting = new AskQuestionIntake(
    resolver,
    commands,
    streams,
    idempotencyKeys(streams),
    new InProcessWorkQueue(),
    { now: () => new Date() },
    systemIds,
    answeringOptions,
    limits,
    earlierTurns,
    noInputGuard(streams, commands),
  );
  const accept = (request: QuestionRequest, idempotencyKey?: string) =>
    accepting.accept(request, caller(), { route: 'stream', idempotencyKey });
  const eventCount = async () => {
    let count = 0;
    for await (const page of store.readAll({ after: LOG_START })) count += page.events.length;
    return count;
  };
  return { streams, accept, eventCount };
}

it('a repeated request finds the turn that its first one began, also when both come at once', async () => {
  const { accept } = intake();
  const request = { question: 'Why?' };
  const [one, other] = await Promise.all([accept(request, 'k'), accept(request, 'k')]);
  const third = await accept(request, 'k');
  expect(new Set([one, other, third].map(({ turnId }) => turnId)).size).toBe(1);
  expect([one.replayed, other.replayed].sort()).toEqual([false, true]);
  expect(third.replayed).toBe(true);
});

it('another request under the same key is refused', async () => {
  const { accept } = intake();
  await accept({ question: 'Why?' }, 'k');
  await expect(accept({ question: 'How?' }, 'k')).rejects.toMatchObject({ code: 'idempotency-key-reused' });
});

it('a request that the conversation does not take leaves no event and uses no key', async () => {
  const { accept, eventCount } = intake();
  const { conversationId } = await accept({ question: 'Why?' });
  const before = await eventCount();
  const wrong = { question: 'And then?', conversation_id: conversationId, index: 7 };
  await expect(accept(wrong, 'k')).rejects.toMatchObject({ code: 'index-out-of-range' });
  expect(await eventCount()).toBe(before);
  await expect(accept({ ...wrong, index: 1 }, 'k')).resolves.toMatchObject({ conversationId, replayed: false });
});

it('a key opens no conversation that was deleted since', async () => {
  const { accept, streams } = intake();
  const { conversationId } = await accept({ question: 'Why?' }, 'k');
  await streams.transact(conversationStream(conversationId), conversation, remove, cause);
  await expect(accept({ question: 'Why?' }, 'k')).rejects.toMatchObject({ code: 'conversation-not-found' });
});

/** Lets so many requests pass, and remembers what it was asked. */
class Gate extends UsageLimits {
  readonly admitted: string[] = [];
  readonly withdrawn: string[] = [];
  constructor(private left: number) {
    super();
  }
  admit({ turnId }: Admission): Promise<void> {
    if (this.left-- <= 0) return Promise.reject(new Rejection('usage-limit', 'No more.'));
    this.admitted.push(turnId);
    return Promise.resolve();
  }
  withdraw({ turnId }: Admission): void {
    this.withdrawn.push(turnId);
  }
  told(): void {}
}

it.each([undefined, 'k'])('a request over a limit leaves no event and uses no key (%s)', async (key) => {
  const { accept, eventCount } = intake(new Gate(0));
  await expect(accept({ question: 'Why?' }, key)).rejects.toMatchObject({ code: 'usage-limit' });
  expect(await eventCount()).toBe(0);
});

it('a repeated request is the same one to the limits', async () => {
  const gate = new Gate(1);
  const { accept } = intake(gate);
  const { turnId } = await accept({ question: 'Why?' }, 'k');
  await expect(accept({ question: 'Why?' }, 'k')).resolves.toMatchObject({ turnId, replayed: true });
  expect(gate.admitted).toEqual([turnId]);
  expect(gate.withdrawn).not.toContain(turnId);
});

it('of two equal requests at once one counts', async () => {
  const gate = new Gate(2);
  const { accept } = intake(gate);
  const [{ turnId }] = await Promise.all([accept({ question: 'Why?' }, 'k'), accept({ question: 'Why?' }, 'k')]);
  const counted = gate.admitted.filter((id) => !gate.withdrawn.includes(id));
  expect(counted).toEqual([turnId]);
});

it('a request that fails after it was let pass counts no more', async () => {
  const gate = new Gate(1);
  const { accept } = intake(gate);
  await expect(accept({ question: 'Why?', conversation_id: newId() })).rejects.toMatchObject({ code: 'conversation-not-found' });
  expect(gate.withdrawn).toEqual(gate.admitted);
});
