import { EnqueuedTurns } from '../../src/dialogue/answering/intake/enqueued-turns.js';
import { AskQuestionIntake, type WayIn } from '../../src/dialogue/answering/intake/ask-question-intake.js';
import { InputGuard } from '../../src/dialogue/answering/intake/input-guard.js';
import { AskQuestionHandler, ResumeTurnHandler } from '../../src/dialogue/answering/intake/question.commands.js';
import type { QuestionRequest } from '../../src/dialogue/answering/intake/question.dto.js';
import type { QuestionResolver, ResolvedQuestion } from '../../src/dialogue/answering/intake/resolve-question.js';
import type { TurnTaker } from '../../src/dialogue/answering/intake/turn-taker.js';
import { ConversationGuard } from '../../src/dialogue/conversation/conversation-guard.js';
import { AnswerReaders } from '../../src/dialogue/journal/answer-readers.js';
import { FrameTail } from '../../src/dialogue/journal/frame-tail.js';
import { RecentMessages } from '../../src/dialogue/journal/message-access.js';
import { MessageFeed } from '../../src/dialogue/journal/message-feed.js';
import { TurnActivity } from '../../src/dialogue/journal/turn-activity.js';
import { LOG_START } from '../../src/kernel/event-sourcing/event-store.js';
import { LastWrites } from '../../src/kernel/event-sourcing/last-writes.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { newId } from '../../src/kernel/ids.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { InProcessWorkQueue } from '../../src/platform/messaging/work-queue/in-process-work-queue.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { SignedInUser } from '../../src/resources/identity/caller.js';
import { type UsageLimits } from '../../src/work/limits/usage-limits.port.js';
import { commandsOver } from './commands-over.js';
import { CodeGuardrails } from './guardrails.js';
import { idempotencyKeys } from './idempotency-keys.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { LogEarlierTurns } from './log-earlier-turns.js';
import { NoLimits } from './no-limits.js';
import { answeringOptions, cause, settings } from './turns.js';

const caller = (): SignedInUser => ({
  kind: 'user',
  userId: 'alice',
  roles: ['user'],
  credential: 'session-token',
  cause: { ...cause, correlationId: newId() },
});

/** The intake over a new log, with a resolver that accepts everything. */
export function questionIntake(
  limits: UsageLimits = new NoLimits(),
  taker: TurnTaker = { seat: () => undefined },
  streams = new Streams(new InMemoryEventStore(), systemTiming),
  asked = settings,
) {
  const { store } = streams;
  const earlierTurns = new LogEarlierTurns(store);
  const handler = new AskQuestionHandler(streams, earlierTurns);
  const clock = { now: () => new Date() };
  const guardrails = new CodeGuardrails();
  const commands = commandsOver(handler, new ResumeTurnHandler(streams, clock));
  const resolver = {
    agentBehind: async () => undefined,
    resolve: async (request: QuestionRequest): Promise<ResolvedQuestion> => ({
      question: request.question!,
      ownerId: 'alice',
      agent: undefined,
      conversationId: request.conversation_id ?? undefined,
      index: request.index ?? null,
      visibility: 'listed',
      history: [],
      sharedUsage: false,
      settings: asked,
    }),
  } as unknown as QuestionResolver;
  const accepting = new AskQuestionIntake(
    resolver,
    commands,
    streams,
    idempotencyKeys(streams),
    new InProcessWorkQueue(),
    clock,
    systemIds,
    answeringOptions,
    limits,
    earlierTurns,
    new InputGuard(guardrails, new ConversationGuard(streams, guardrails), commands),
    taker,
    new FrameTail(
      new MessageFeed(store, new InProcessSignals(), systemTiming),
      new TurnActivity(streams),
      new AnswerReaders(commands, store, new LastWrites()),
      new RecentMessages(systemTiming),
    ),
    new EnqueuedTurns(systemTiming, answeringOptions),
  );
  const accept = (request: QuestionRequest, idempotencyKey?: string, way: Pick<WayIn, 'nextIndex' | 'repeatedAs'> = {}) =>
    accepting.accept(request, caller(), { route: 'stream', idempotencyKey, ...way });
  const eventCount = async () => {
    let count = 0;
    for await (const page of store.readAll({ after: LOG_START })) count += page.events.length;
    return count;
  };
  return { streams, accept, eventCount };
}
