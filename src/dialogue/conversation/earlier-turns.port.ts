import type { Folded } from '../../kernel/event-sourcing/streams.js';
import type { TurnId } from './conversation.events.js';
import { type Conversation, countingTurnAt, type Turn } from './turn.policy.js';

/** A turn as far as decisions on one that is over need it. */
export type EarlierTurn = Pick<Turn, 'index' | 'status' | 'superseded' | 'feedback'> & Readonly<{ turnId: TurnId }>;

/**
 * Turns of a conversation, those among them that its snapshots have left out. What is found was so at the revision of the fold,
 * or is newer: who appends to that revision decides on what is true, or loses the race.
 */
export abstract class EarlierTurns {
  /** @throws ReadModelsBehind */
  async byId(known: Folded<Conversation>, turnId: TurnId): Promise<EarlierTurn | undefined> {
    const turn = known.state.turns.get(turnId);
    if (turn) return { turnId, ...turn };
    return known.state.isPartial ? this.leftOutById(known, turnId) : undefined;
  }

  /** The turn that counts at a place. @throws ReadModelsBehind */
  async at(known: Folded<Conversation>, index: number): Promise<EarlierTurn | undefined> {
    const [turnId, turn] = countingTurnAt(known.state, index) ?? [];
    if (turnId && turn) return { turnId, ...turn };
    const isLeftOut = known.state.isPartial && index < known.state.nextIndex;
    return isLeftOut ? this.leftOutAt(known, index) : undefined;
  }

  protected abstract leftOutById(known: Folded<Conversation>, turnId: TurnId): Promise<EarlierTurn | undefined>;
  protected abstract leftOutAt(known: Folded<Conversation>, index: number): Promise<EarlierTurn | undefined>;
}
