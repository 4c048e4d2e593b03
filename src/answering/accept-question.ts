import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { conversation } from '../conversation/conversation.decider.js';
import { conversationStream } from '../conversation/conversation.events.js';
import type { Caller } from '../identity/caller.js';
import { EventStore } from '../kernel/event-store.js';
import { fingerprintOf, useIdempotencyKey } from '../kernel/idempotency.js';
import { newId } from '../kernel/ids.js';
import { Rejection } from '../kernel/rejection.js';
import { Streams } from '../kernel/streams.js';
import { WorkQueue } from '../kernel/work-queue.js';
import { AnsweringOptions } from './answering-options.js';
import type { TurnToRun } from './frame-tail.port.js';
import { AskQuestion, decisionOf } from './ask-question.command.js';
import type { QuestionRequest } from './question.dto.js';
import { QuestionResolver } from './resolve-question.js';

/** The queue on which turns wait for a runner. */
export const TURNS_QUEUE = 'turns';

export type AcceptedQuestion = TurnToRun & Readonly<{ replayed: boolean; position: bigint | undefined }>;

/** How a question came in. `origin` is the page it was asked on, where a browser tells. */
export type WayIn = Readonly<{ route: 'stream' | 'answer'; idempotencyKey: string | undefined; origin: string | undefined }>;

/** The way from a request to a turn in the log: settle it, honour its idempotency key, ask, and nudge a runner. */
@Injectable()
export class QuestionDesk {
  constructor(
    private readonly resolver: QuestionResolver,
    private readonly commands: CommandBus,
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly queue: WorkQueue,
    private readonly options: AnsweringOptions,
  ) {}

  /** @throws Rejection for whatever is wrong with the request; then nothing was written */
  async accept(request: QuestionRequest, caller: Caller, way: WayIn): Promise<AcceptedQuestion> {
    if (request.tool_actions?.length) throw resumeRefused(request);
    if (request.attachments?.length) throw new Rejection('attachment-not-found', 'Attachment not found');
    const question = await this.resolver.resolve(request, caller, way.origin);
    const asking = ({ conversationId, turnId }: TurnToRun) => new AskQuestion(turnId, conversationId, question, caller.cause);
    const fresh: TurnToRun = { conversationId: question.conversationId ?? newId(), turnId: newId() };
    const { replayed, ids } = await this.idsFor(request, caller, way, fresh, () => this.refuse(asking(fresh)));
    const { position } = await this.commands.execute(asking(ids));
    this.nudge(ids);
    return { ...ids, replayed, position };
  }

  private async idsFor(
    request: QuestionRequest,
    caller: Caller,
    { route, idempotencyKey: key }: WayIn,
    fresh: TurnToRun,
    refuse: () => Promise<void>,
  ) {
    if (key === undefined) return { replayed: false, ids: fresh };
    const callerId = caller.kind === 'agent-key' ? caller.keyId : caller.userId;
    const fingerprint = fingerprintOf(route, { ...request, api_key: undefined });
    const idempotency = { scope: 'answer', callerId, key, fingerprint, ttlMs: this.options.settings.idempotencyTtlMs };
    const { used, value } = await useIdempotencyKey(this.store, idempotency, fresh, caller.cause, refuse);
    if (used === 'differently') {
      throw new Rejection('idempotency-key-reused', 'This Idempotency-Key was used with another request.');
    }
    return { replayed: used === 'again', ids: value };
  }

  /** @throws Rejection when the conversation would not take the question */
  private async refuse(asking: AskQuestion): Promise<void> {
    const { state } = await this.streams.fold(conversationStream(asking.conversationId), conversation);
    decisionOf(asking)(state);
  }

  /** Nobody waits for the queue: it only says "now", and a turn that no queue knows of is found in the log. */
  private nudge({ conversationId, turnId }: TurnToRun): void {
    const payload = JSON.stringify({ conversationId, turnId } satisfies TurnToRun);
    this.queue.enqueue(TURNS_QUEUE, turnId, payload).catch(() => undefined);
  }
}

/** No turn pauses yet, so nothing can be pending. */
function resumeRefused(request: QuestionRequest): Rejection {
  return request.conversation_id
    ? new Rejection('tool-call-not-pending', 'This request is no longer pending.')
    : new Rejection('invalid-request', 'Missing required fields: conversation_id');
}
