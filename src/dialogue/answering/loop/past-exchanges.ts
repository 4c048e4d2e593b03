import { decode } from '../../../kernel/event-sourcing/codec.js';
import { type EventStore, eventsBackwards } from '../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import { conversationCodec } from '../../conversation/conversation.codec.js';
import type { ConversationEvent, Exchange, TurnId } from '../../conversation/conversation.events.js';

/** The newest exchanges before a turn, oldest first, with at most `charactersMax` characters in all. */
export type Exchanges = (charactersMax: number) => Promise<readonly Exchange[]>;

/** A later event that affects earlier turns: a question superseded the turns from an index on, or a turn was withdrawn. */
type Change = Readonly<{ supersededFrom: number } | { withdrawn: TurnId }>;

/**
 * Collects the exchanges of a conversation by reading it backwards, so that the outcome of a turn is known before its question.
 * Turns that failed, had no answer, were superseded or withdrawn are left out. A stopped turn counts with the text that it had
 * written.
 */
export class PastExchanges {
  private readonly answers = new Map<TurnId, string>();
  /** Newest first. */
  private readonly changes: Change[] = [];
  private readonly questionsSeen = new Set<TurnId>();

  constructor(
    private readonly store: EventStore,
    private readonly stream: string,
    /** All earlier events, newest first, if they are known without reading the stream. */
    private readonly earlier?: readonly ConversationEvent[],
  ) {}

  /** Adds an event; the caller adds the newest first. Returns the exchange if the event is the question of one. */
  add(event: ConversationEvent): Exchange | undefined {
    switch (event.type) {
      case 'TurnAnswered':
      case 'TurnStopped':
        this.answers.set(event.data.turnId, event.data.answer);
        return undefined;
      case 'TurnsSuperseded':
        this.changes.push({ supersededFrom: event.data.fromIndex });
        return undefined;
      case 'TurnWithdrawn':
        this.changes.push({ withdrawn: event.data.turnId });
        return undefined;
      case 'TurnAsked':
        return this.exchangeOf(event.data, this.answers.get(event.data.turnId));
      case 'TurnAppended':
        return this.exchangeOf(event.data, event.data.answer);
      default:
        return undefined;
    }
  }

  /** The exchanges before a revision. The caller has added all events from that revision on. May be repeated. */
  before(revision: number, charactersMax: number): Promise<readonly Exchange[]> {
    return this.copy().collected(revision, charactersMax);
  }

  private copy(): PastExchanges {
    const copy = new PastExchanges(this.store, this.stream, this.earlier);
    for (const [turnId, answer] of this.answers) copy.answers.set(turnId, answer);
    copy.changes.push(...this.changes);
    for (const turnId of this.questionsSeen) copy.questionsSeen.add(turnId);
    return copy;
  }

  private async collected(revision: number, charactersMax: number): Promise<readonly Exchange[]> {
    const newest: Exchange[] = [];
    let characters = 0;
    const fits = (exchange: Exchange): boolean => {
      characters += exchange.prompt.length + exchange.response.length;
      if (characters <= charactersMax) newest.push(exchange);
      return characters <= charactersMax;
    };
    if (revision === 0) return newest;
    for await (const event of this.earlier ?? newestFirst(this.store, this.stream, revision - 1)) {
      const exchange = this.add(event);
      if (exchange && !fits(exchange)) break;
      if (event.type === 'ConversationStarted') event.data.history.filter(isAnswered).reverse().every(fits);
    }
    return newest.reverse();
  }

  /** The newest turn before a revision that was neither superseded nor withdrawn. */
  async turnBefore(revision: number): Promise<TurnId | undefined> {
    for await (const event of newestFirst(this.store, this.stream, revision - 1)) {
      this.add(event);
      if (event.type !== 'TurnAsked' && event.type !== 'TurnAppended') continue;
      if (!this.isGone(event.data.turnId, event.data.index)) return event.data.turnId;
    }
    return undefined;
  }

  private exchangeOf(
    { turnId, index, question }: Readonly<{ turnId: TurnId; index: number; question: string }>,
    answer: string | undefined,
  ): Exchange | undefined {
    this.questionsSeen.add(turnId);
    this.answers.delete(turnId);
    if (answer === undefined || this.isGone(turnId, index)) return undefined;
    const exchange = { prompt: question, response: answer };
    return isAnswered(exchange) ? exchange : undefined;
  }

  /** Whether a turn was superseded or withdrawn. The withdrawal of an earlier turn lowered this turn's index by one. */
  private isGone(turnId: TurnId, askedAt: number): boolean {
    let index = askedAt;
    for (const change of this.changes.toReversed()) {
      if ('supersededFrom' in change) {
        if (index >= change.supersededFrom) return true;
      } else if (change.withdrawn === turnId) {
        return true;
      } else if (!this.questionsSeen.has(change.withdrawn)) {
        index -= 1;
      }
    }
    return false;
  }
}

/** Whether an exchange has an answer. Others are left out, because models accept no empty assistant messages. */
const isAnswered = ({ response }: Exchange): boolean => response.trim() !== '';

/**
 * A conversation's events from a revision, or its end, back to its beginning. Skips event types that only a newer version of the
 * program knows.
 */
export async function* newestFirst(
  store: EventStore,
  stream: string,
  from: number | undefined,
): AsyncGenerator<Recorded<ConversationEvent>> {
  for await (const stored of eventsBackwards(store, stream, from === undefined ? {} : { from })) {
    const event = decode<ConversationEvent>(conversationCodec, stored);
    if (event) yield event;
  }
}
