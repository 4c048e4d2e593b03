import { conversation } from '../../src/dialogue/conversation/conversation.decider.js';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import { type ConversationEvent, conversationStream, type TurnId } from '../../src/dialogue/conversation/conversation.events.js';
import { type EarlierTurn, EarlierTurns } from '../../src/dialogue/conversation/earlier-turns.port.js';
import { type Conversation, countingTurnAt } from '../../src/dialogue/conversation/turn.policy.js';
import { decode } from '../../src/kernel/event-sourcing/codec.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import type { Folded } from '../../src/kernel/event-sourcing/streams.js';

/** Finds turns in the log itself, including those before snapshots. */
export class LogEarlierTurns extends EarlierTurns {
  constructor(private readonly store: Pick<EventStore, 'read'>) {
    super();
  }

  protected async leftOutById({ state }: Folded<Conversation>, turnId: TurnId): Promise<EarlierTurn | undefined> {
    const turn = (await this.whole(state.id)).turns.get(turnId);
    return turn && { turnId, ...turn };
  }

  protected async leftOutAt({ state }: Folded<Conversation>, index: number): Promise<EarlierTurn | undefined> {
    const [turnId, turn] = countingTurnAt(await this.whole(state.id), index) ?? [];
    return turnId && turn ? { turnId, ...turn } : undefined;
  }

  private async whole(conversationId: string): Promise<Conversation> {
    let state = conversation.initial;
    for await (const page of this.store.read(conversationStream(conversationId))) {
      for (const stored of page) {
        const event = decode<ConversationEvent>(conversationCodec, stored);
        if (event && event.type !== 'ConversationSnapshotTaken') state = conversation.evolve(state, event);
      }
    }
    return state;
  }
}
