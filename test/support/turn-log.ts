import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import {
  type ConversationEvent,
  conversationStream,
  type TurnOutcome,
  type TurnSealed,
} from '../../src/dialogue/conversation/conversation.events.js';
import { messageStream } from '../../src/dialogue/journal/message.events.js';
import { renderFrames } from '../../src/dialogue/journal/message.policy.js';
import { decode } from '../../src/kernel/event-sourcing/codec.js';
import { type EventStore, LOG_START } from '../../src/kernel/event-sourcing/event-store.js';

/** The facts in the log about one turn. */
export type LoggedTurn = {
  readonly conversationId: string;
  readonly question: string;
  readonly outcomes: TurnOutcome[];
  readonly seals: TurnSealed[];
};

/** The turns in the log, read independently of the service's code. */
export class TurnLog {
  readonly turns = new Map<string, LoggedTurn>();
  private position = LOG_START;

  constructor(private readonly store: Pick<EventStore, 'read' | 'readAll'>) {}

  /** Reads the events since the last call. */
  async refresh(): Promise<this> {
    for await (const page of this.store.readAll({ after: this.position, filter: { categories: ['conversation'] } })) {
      for (const stored of page.events) {
        const event = decode<ConversationEvent>(conversationCodec, stored);
        if (event) this.note(event);
      }
      this.position = page.position;
    }
    return this;
  }

  get unsealed(): readonly string[] {
    return [...this.turns].filter(([, { seals }]) => seals.length === 0).map(([turnId]) => turnId);
  }

  /** The journal of a message, as it is sent to clients. */
  async journalOf(messageId: string): Promise<string> {
    let text = '';
    for await (const page of this.store.read(messageStream(messageId))) {
      for (const { revision, data } of page) text += renderFrames(revision, [data]);
    }
    return text;
  }

  /** The events of a turn's conversation with their times, for diagnosis. */
  async factsOf(turnId: string): Promise<string> {
    const facts: string[] = [];
    for await (const page of this.store.read(conversationStream(this.turns.get(turnId)!.conversationId))) {
      for (const { type, at, data } of page) facts.push(`${at.toISOString()} ${type} ${data.slice(0, 200)}`);
    }
    const frames = (await this.journalOf(turnId)).split('\n\n').length - 1;
    return `${turnId}, ${frames} frames, now ${new Date().toISOString()}:\n  ${facts.join('\n  ')}`;
  }

  private note(event: ConversationEvent): void {
    switch (event.type) {
      case 'TurnAsked': {
        const { conversationId, question, turnId } = event.data;
        this.turns.set(turnId, { conversationId, question, outcomes: [], seals: [] });
        break;
      }
      case 'TurnAnswered':
      case 'TurnFailed':
      case 'TurnStopped':
        this.turns.get(event.data.turnId)!.outcomes.push(event);
        break;
      case 'TurnSealed':
        this.turns.get(event.data.turnId)!.seals.push(event);
        break;
      default:
    }
  }
}
