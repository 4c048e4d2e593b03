import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { AgentRecord } from '../../../../projections/agents/agents.queries.js';
import { belongsTo } from '../../conversation/conversation-access.policy.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conversationStream, type Dialect, type Usage } from '../../conversation/conversation.events.js';
import { type CallAnswer, resume } from '../../conversation/pause.decider.js';
import { type EarlierTurn, EarlierTurns } from '../../conversation/earlier-turns.port.js';
import type { Conversation } from '../../conversation/turn.policy.js';
import { credentialIdOf } from '../../../resources/identity/access.policy.js';
import { type Caller, ownerOf } from '../../../resources/identity/caller.js';
import { Clock } from '../../../kernel/clock.js';
import { IdempotencyKeys, type KeyUsed } from '../../../kernel/event-sourcing/idempotency.js';
import { deterministicId, Ids, isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { WorkQueue } from '../../../kernel/messaging/work-queue.js';
import { type Admission, type LimitedAgent, UsageLimits } from '../../../work/limits/usage-limits.port.js';
import { InputGuard } from './input-guard.js';
import { AnsweringOptions } from '../loop/answering-options.js';
import { newestFirst } from '../loop/past-exchanges.js';
import { readTranscript } from '../loop/transcript.js';
import type { TurnToRun } from '../../journal/message.events.js';
import { FrameTail } from '../../journal/frame-tail.js';
import { AskQuestion, decisionOf, ResumeTurn } from './question.commands.js';
import type { QuestionRequest } from './question.dto.js';
import { QuestionResolver, type ResolvedQuestion } from './resolve-question.js';
import { asksForPlace, repetitionOf } from './retried-question.policy.js';
import { answersOf } from './tool-actions.policy.js';
import { EnqueuedTurns } from './enqueued-turns.js';
import { type Seat, TurnTaker } from './turn-taker.js';
import { TURNS_QUEUE } from './turns-queue.js';

/**
 * The turn that a request started, as stored with its idempotency key. A resumption adds the last frame before it and its
 * request's id.
 */
type Started = TurnToRun & Readonly<{ after?: number; requestId?: string }>;

/** An accepted question. The answer begins with the frame after `after`. */
export type AcceptedQuestion = TurnToRun & Readonly<{ after: number; replayed: boolean; position: bigint | undefined }>;

/** How a question was received. */
export type WayIn = Readonly<{
  route: 'stream' | 'answer' | 'responses';
  idempotencyKey: string | undefined;
  /** Missing for the native interface. */
  dialect?: Dialect;
  /**
   * The form of the request that is the same in each repetition with one idempotency key, if its translation differs each time.
   */
  repeatedAs?: object;
  /** The index that the question must get as the next question of the conversation. */
  nextIndex?: number | undefined;
}>;

/**
 * Turns a request into a turn in the log: resolves the question, applies the idempotency key, appends the turn and notifies a
 * runner.
 */
@Injectable()
export class AskQuestionIntake {
  constructor(
    private readonly resolver: QuestionResolver,
    private readonly commands: Commands,
    private readonly streams: Streams,
    private readonly keys: IdempotencyKeys,
    private readonly queue: WorkQueue,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly options: AnsweringOptions,
    private readonly limits: UsageLimits,
    private readonly earlierTurns: EarlierTurns,
    private readonly inputs: InputGuard,
    private readonly taker: TurnTaker,
    private readonly frames: FrameTail,
    private readonly enqueued: EnqueuedTurns,
  ) {}

  /** @throws Rejection if the request is invalid or not permitted. Nothing is written then. */
  async accept(request: QuestionRequest, caller: Caller, way: WayIn): Promise<AcceptedQuestion> {
    if (request.tool_actions?.length) return this.resume(request, caller, way);
    const question = receivedBy(way, await this.resolver.resolve(request, caller));
    const asking = ({ conversationId, turnId }: TurnToRun, isRepeated: boolean, asked = question, by?: Seat) =>
      new AskQuestion(turnId, conversationId, asked, caller.cause, isRepeated, by);
    const fresh: Started = { conversationId: question.conversationId ?? this.ids.next(), turnId: this.ids.next() };
    const { agent } = question;
    const limited = { agent: agent && limitedAgent(agent), linkId: caller.kind === 'link' ? caller.linkId : undefined };
    const admission = { ...admitted(fresh), ownerId: question.ownerId, ...limited, isNewRequest: true };
    return this.withinLimits(admission, async (admit) => {
      const { replayed, ids: known } = await this.idsFor(
        request,
        caller,
        way,
        fresh,
        () => this.refuse(asking(fresh, false)),
        admit,
      );
      const ids = replayed && question.conversationId === undefined ? await this.unlessOvertaken(known) : known;
      const checked = await this.inputs.question(question);
      // A check may take so long that a repetition with the same key has been asked and answered since.
      const mayBeAsked = replayed || (way.idempotencyKey !== undefined && question.settings.guardrails !== undefined);
      const position = await this.ask((seat) => asking(ids, mayBeAsked, checked, seat), ids, replayed);
      if (replayed) await this.frames.requireKept(ids.turnId, -1);
      return { ...ids, after: -1, replayed, position };
    });
  }

  /**
   * Asks the turn. If this process has a free seat, the same append claims the turn; otherwise the turn is enqueued for a runner.
   */
  private async ask(asking: (seat?: Seat) => AskQuestion, ids: Started, replayed: boolean): Promise<bigint | undefined> {
    const seat = replayed ? undefined : this.taker.seat(ids.turnId);
    const forgetReader = seat && this.frames.expect(ids.turnId);
    try {
      const { position, taken } = await this.commands.execute(asking(seat));
      if (seat && taken) {
        seat.run(taken);
        return position;
      }
      seat?.leave();
      forgetReader?.();
      this.nudge(ids);
      return position;
    } catch (error) {
      // Unless the question was refused, the append may have succeeded and claimed the turn for this process. The sweep then ends
      // it.
      seat?.leave();
      forgetReader?.();
      throw error;
    }
  }

  /** @throws Rejection if the request is invalid or not permitted. No decision is stored then. */
  private async resume(request: QuestionRequest, caller: Caller, way: WayIn): Promise<AcceptedQuestion> {
    const { conversation_id: conversationId } = request;
    if (request.question?.trim())
      throw new Rejection('invalid-request', 'question and tool_actions cannot be sent together: one asks, the other resumes.');
    if (!conversationId) throw new Rejection('invalid-request', 'Missing required fields: conversation_id');
    const answers = answersOf(request.tool_actions!);
    if (!isId(conversationId)) throw new Rejection('conversation-not-found', 'Conversation not found');
    const now = this.clock.now();
    const { state } = await this.streams.fold(conversationStream(conversationId), conversation);
    // A caller that is not a party to the conversation must not learn whether its agent exists.
    const agent = belongsTo(state, caller) ? await this.resolver.agentBehind(caller, state.agentId) : undefined;
    const found = lastPauseOf(state, answers);
    const { correlationId: requestId } = caller.cause;
    const fresh: Started = { conversationId, turnId: found?.turnId ?? '', after: found?.lastId ?? -1, requestId };
    const refuse = async () => void resume(answers, caller, now)(state);
    // With an idempotency key the check follows later, because the key may belong to a decision that was already made.
    if (way.idempotencyKey === undefined) await refuse();
    const admission = { ...admitted(fresh), ownerId: ownerOf(caller), agent: agent && limitedAgent(agent), isNewRequest: false };
    return this.withinLimits(admission, async (admit) => {
      const { replayed, ids } = await this.idsFor(request, caller, way, fresh, refuse, admit);
      const resuming = this.resumed(state, ids, answers, caller);
      const { position } = await resuming.catch(async (error: unknown) => {
        const isDecided = way.idempotencyKey !== undefined && error instanceof Rejection && DECIDED.has(error.code);
        if (isDecided && (await this.hasResumed(ids))) return { position: undefined };
        throw error;
      });
      this.nudge(ids);
      const after = ids.after ?? -1;
      if (replayed) await this.frames.requireKept(ids.turnId, after);
      return { conversationId, turnId: ids.turnId, after, replayed, position };
    });
  }

  /** Whether the first request with the idempotency key or a repetition has resumed the turn, and not another request. */
  private async hasResumed({ conversationId, turnId, requestId }: Started): Promise<boolean> {
    for await (const { type, data, cause } of newestFirst(this.streams.store, conversationStream(conversationId), undefined)) {
      if (type === 'TurnResumed' && (data.firstRequestId ?? cause.correlationId) === requestId) return true;
      if (type === 'TurnAsked' && data.turnId === turnId) return false;
    }
    return false;
  }

  /** Resumes a turn. The answers to the calls of a guarded turn are checked before they are stored. */
  private async resumed(state: Conversation, { turnId, requestId }: Started, answers: readonly CallAnswer[], caller: Caller) {
    const isFirst = requestId === undefined || requestId === caller.cause.correlationId;
    const first = isFirst ? {} : { firstRequestId: requestId };
    const resumption = (checked: readonly CallAnswer[], checkUsage?: Usage) =>
      new ResumeTurn(state.id, checked, { ...first, ...(checkUsage && { checkUsage }) }, caller, caller.cause);
    if (!state.turns.get(turnId)?.isGuarded) return this.commands.execute(resumption(answers));
    const transcript = await readTranscript(this.streams, state.id, turnId);
    // A turn without a transcript has ended meanwhile, which the command refuses.
    if (!transcript) return this.commands.execute(resumption(answers));
    const { guardrails, agentId } = transcript.asked.settings;
    const guarded = await this.inputs.callAnswers(answers, guardrails!);
    const accepted = await this.commands.execute(resumption(guarded.answers, guarded.checked.usage));
    await this.inputs.record(guarded.checked, { recordId: turnId, ownerId: state.ownerId, agentId }, caller.cause);
    return accepted;
  }

  /** Runs work that admits a turn to the limits. The admission is withdrawn if the work fails or began no new turn. */
  private async withinLimits(
    admission: Admission,
    work: (admit: () => Promise<void>) => Promise<AcceptedQuestion>,
  ): Promise<AcceptedQuestion> {
    try {
      const accepted = await work(() => this.limits.admit(admission));
      // With an idempotency key the result may be the turn of the first request.
      if (accepted.turnId !== admission.turnId) this.limits.withdraw(admission);
      return accepted;
    } catch (error) {
      this.limits.withdraw(admission);
      throw error;
    }
  }

  private async idsFor(
    request: QuestionRequest,
    caller: Caller,
    { route, idempotencyKey: key, repeatedAs }: WayIn,
    fresh: Started,
    refuse: () => Promise<void>,
    admit: () => Promise<void>,
  ) {
    if (key === undefined) {
      await admit();
      return { replayed: false, ids: fresh };
    }
    const callerId = credentialIdOf(caller);
    const fingerprint = (asked: QuestionRequest) =>
      this.keys.fingerprintOf(route, repeatedAs ?? { ...asked, api_key: undefined });
    const ttlMs = this.options.settings.idempotencyTtlMs;
    const idempotency = { scope: 'answer', callerId, key, fingerprint: fingerprint(request), ttlMs };
    const refuseOrAdmit = async () => {
      await refuse();
      await admit();
    };
    const judge = async ({ fingerprint: known, value: { conversationId, turnId } }: KeyUsed<Started>) => {
      const turn = asksForPlace(request) ? await this.turnOf(conversationId, turnId) : undefined;
      return repetitionOf(request, { fingerprint: known, conversationId, turn }, fingerprint);
    };
    const { used, value } = await this.keys.use(idempotency, fresh, caller.cause, { refuse: refuseOrAdmit, judge });
    if (used === 'differently') {
      throw new Rejection('idempotency-key-reused', 'This Idempotency-Key was used with another request.');
    }
    return { replayed: used === 'again', ids: value };
  }

  /**
   * The ids of a repeated question. If another question had taken its place in the conversation before it was asked, it begins a
   * conversation of its own, the same in each repetition.
   */
  private async unlessOvertaken(ids: Started): Promise<Started> {
    const known = await this.streams.fold(conversationStream(ids.conversationId), conversation);
    const isOvertaken = known.state.status === 'open' && !(await this.earlierTurns.byId(known, ids.turnId));
    return isOvertaken ? { ...ids, conversationId: deterministicId('overtaken', ids.turnId) } : ids;
  }

  private async turnOf(conversationId: string, turnId: string): Promise<EarlierTurn | undefined> {
    return this.earlierTurns.byId(await this.streams.fold(conversationStream(conversationId), conversation), turnId);
  }

  /** @throws Rejection if the conversation refuses the question */
  private async refuse(asking: AskQuestion): Promise<void> {
    const { state } = await this.streams.fold(conversationStream(asking.conversationId), conversation);
    decisionOf(asking)(state);
  }

  /**
   * Enqueues the turn. Not awaited, because the queue only wakes a runner, and the sweep finds a turn that is not in the queue.
   */
  private nudge({ conversationId, turnId, after }: Started): void {
    this.enqueued.note({ conversationId, turnId });
    const payload = JSON.stringify({ conversationId, turnId } satisfies TurnToRun);
    // Each run of a turn has its own item id, because the queue drops an item whose id it has seen before.
    const run = after === undefined ? turnId : `${turnId}-${after}`;
    this.queue.enqueue(TURNS_QUEUE, run, payload).catch(() => undefined);
  }
}

const receivedBy = ({ dialect, nextIndex }: WayIn, question: ResolvedQuestion): ResolvedQuestion => ({
  ...question,
  ...(dialect && { settings: { ...question.settings, dialect } }),
  ...(nextIndex !== undefined && { index: nextIndex, isNext: true }),
});

/** The fields of an agent that its limits need. */
export const limitedAgent = ({ id, configuration: { tokenLimit, requestLimit } }: AgentRecord): LimitedAgent => ({
  id,
  tokenLimit,
  requestLimit,
});

/** Rejection codes of a resumption that has already taken place. */
const DECIDED = new Set(['tool-call-not-pending', 'resume-in-progress']);

/** The turn that is paused for one of the calls; otherwise the newest turn that was. */
function lastPauseOf({ turns }: Conversation, answers: readonly CallAnswer[]) {
  const named = [...turns].filter(([, { pause }]) =>
    pause?.calls.some((call) => answers.some(({ callId }) => callId === call.callId)),
  );
  const [turnId, turn] = named.find(([, { status }]) => status === 'paused') ?? named.at(-1) ?? [];
  return turnId && turn ? { turnId, lastId: turn.pause!.lastId } : undefined;
}

const admitted = ({ conversationId, turnId }: Started) => ({ turnId, stream: conversationStream(conversationId) });
