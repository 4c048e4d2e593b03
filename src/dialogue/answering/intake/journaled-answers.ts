import { Injectable } from '@nestjs/common';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { LastWrites } from '../../../kernel/event-sourcing/last-writes.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { type Caller, onlookerOf, ownerOf } from '../../../resources/identity/caller.js';
import { UsageLimits } from '../../../work/limits/usage-limits.port.js';
import { belongsTo } from '../../conversation/conversation-access.policy.js';
import { conversation } from '../../conversation/conversation.decider.js';
import {
  type ConversationEvent,
  conversationStream,
  type Exchange,
  type PauseType,
  type Usage,
} from '../../conversation/conversation.events.js';
import { EarlierTurns } from '../../conversation/earlier-turns.port.js';
import { FrameTail } from '../../journal/frame-tail.js';
import { MessageAccess } from '../../journal/message-access.js';
import { type Frame, messageStream } from '../../journal/message.events.js';
import { newestFirst, PastExchanges } from '../loop/past-exchanges.js';
import {
  Answers,
  type AskedElsewhere,
  type StartedAnswer,
  type NumberedFrame,
  type TurnIds,
  type WayElsewhere,
} from './answers.port.js';
import { AskQuestionIntake } from './ask-question-intake.js';

/** Answers questions like `POST /stream`: the intake accepts the question and the frames are read from the journal. */
@Injectable()
export class JournaledAnswers extends Answers {
  constructor(
    private readonly intake: AskQuestionIntake,
    private readonly tail: FrameTail,
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly lastWrites: LastWrites,
    private readonly limits: UsageLimits,
    private readonly conversations: ConversationQueries,
    private readonly access: MessageAccess,
    private readonly earlierTurns: EarlierTurns,
  ) {
    super();
  }

  async begin(asked: AskedElsewhere, caller: Caller, way: WayElsewhere): Promise<StartedAnswer> {
    const started = await this.intake.accept(asked, caller, { idempotencyKey: undefined, ...way });
    this.lastWrites.note(ownerOf(caller), started.position);
    return started;
  }

  async *frames(started: StartedAnswer, after: number, caller: Caller, signal: AbortSignal): AsyncGenerator<NumberedFrame> {
    try {
      for await (const { first, data } of this.tail.tail(started, after, signal, onlookerOf(caller))) {
        for (const [index, text] of data.entries()) yield { id: first + index, frame: JSON.parse(text) as Frame };
      }
    } finally {
      this.limits.endSeen(started.turnId);
    }
  }

  requireReadable(conversationId: string, caller: Caller): Promise<void> {
    return this.access.requireReadable(conversationId, undefined, caller);
  }

  async *written({ turnId }: TurnIds, after: number): AsyncGenerator<NumberedFrame> {
    let next = after + 1;
    for await (const page of this.store.read(messageStream(turnId), { from: next })) {
      for (const { revision: id, data } of page) {
        if (id > next) throw expired();
        yield { id, frame: JSON.parse(data) as Frame };
        next++;
      }
    }
    // An ended answer had a journal, so no frames at all may mean that the journal has expired.
    if (next === after + 1 && (await this.conversations.conversationOf(turnId))?.expired) throw expired();
  }

  async journaledAt({ turnId }: TurnIds, after: number): Promise<Date> {
    for await (const [frame] of this.store.read(messageStream(turnId), { from: after + 1, limit: 1 })) if (frame) return frame.at;
    // Whoever asks has read that frame, so the journal has expired since.
    throw expired();
  }

  async usage({ conversationId, turnId }: TurnIds, after: number, last: number): Promise<Usage | undefined> {
    let before: Usage | null | undefined = after < 0 ? NOTHING : null;
    let until: Usage | null | undefined;
    for await (const event of newestFirst(this.store, conversationStream(conversationId), undefined)) {
      if (!('turnId' in event.data) || event.data.turnId !== turnId) continue;
      if (event.type === 'TurnAsked') break;
      // The usage in each pause and outcome is the total of the turn so far.
      if (event.type === 'TurnPaused' && event.data.lastId === after) before = event.data.usage;
      else if (event.type === 'TurnPaused' && event.data.lastId === last) until = event.data.usage;
      else if (isOutcome(event)) until = event.data.usage;
    }
    return before && until ? less(until, before) : undefined;
  }

  async waited(conversationId: string, caller: Caller): Promise<ReadonlyMap<string, PauseType>> {
    if (!isId(conversationId)) return new Map();
    const { state } = await this.streams.fold(conversationStream(conversationId), conversation);
    if (!belongsTo(state, caller)) return new Map();
    const calls = [...state.turns.values()].flatMap(({ pause }) => pause?.calls ?? []);
    return new Map(calls.map(({ callId, pauseType }) => [callId, pauseType]));
  }

  async goingOnFrom({ conversationId, turnId }: TurnIds): Promise<'waits' | number | readonly Exchange[]> {
    const stream = conversationStream(conversationId);
    const known = await this.streams.fold(stream, conversation);
    const { turns, nextIndex } = known.state;
    if (turns.get(turnId)?.status === 'paused') return 'waits';
    if ((await this.earlierTurns.at(known, nextIndex - 1))?.turnId === turnId) return nextIndex;
    const past = new PastExchanges(this.store, stream);
    for await (const event of newestFirst(this.store, stream, undefined)) {
      // A question that replaced this turn later does not change the history up to it.
      const exchange = event.type === 'TurnsSuperseded' ? undefined : past.add(event);
      if (event.type !== 'TurnAsked' || event.data.turnId !== turnId) continue;
      const before = await past.before(event.revision, CARRIED_CHARACTERS_MAX);
      return exchange ? [...before, exchange] : before;
    }
    return [];
  }
}

/** Maximum length of the history of a conversation that branches off, because its first event contains the history. */
const CARRIED_CHARACTERS_MAX = 256 * 1024;

const expired = () => new Rejection('journal-expired', 'The events of this answer are no longer kept.');

const NOTHING: Usage = { promptTokens: 0, completionTokens: 0 };

type Outcome = Extract<ConversationEvent, { type: 'TurnAnswered' | 'TurnFailed' | 'TurnStopped' }>;

const isOutcome = (event: ConversationEvent): event is Outcome =>
  event.type === 'TurnAnswered' || event.type === 'TurnFailed' || event.type === 'TurnStopped';

const less = (all: Usage, before: Usage): Usage => ({
  promptTokens: all.promptTokens - before.promptTokens,
  completionTokens: all.completionTokens - before.completionTokens,
});
