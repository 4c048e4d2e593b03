import type { Folded } from '../../kernel/event-sourcing/streams.js';
import type { TurnId } from './conversation.events.js';
import { type Conversation, countingTurnAt, type Decide, type Turn } from './turn.policy.js';

/** The part of a finished turn that decisions need. */
export type EarlierTurn = Pick<Turn, 'index' | 'status' | 'superseded' | 'feedback'> & Readonly<{ turnId: TurnId }>;

/**
 * Finds turns of a conversation, including those that its snapshots omit. The result is of the revision of the fold or newer. An
 * append at that revision therefore either uses current data or loses the race.
 */
export abstract class EarlierTurns {
  /** @throws ReadModelsBehind */
  async byId(known: Folded<Conversation>, turnId: TurnId): Promise<EarlierTurn | undefined> {
    const turn = known.state.turns.get(turnId);
    if (turn) return { turnId, ...turn };
    return known.state.isPartial ? this.leftOutById(known, turnId) : undefined;
  }

  /** The valid turn at an index. @throws ReadModelsBehind */
  async at(known: Folded<Conversation>, index: number): Promise<EarlierTurn | undefined> {
    const [turnId, turn] = countingTurnAt(known.state, index) ?? [];
    if (turnId && turn) return { turnId, ...turn };
    const isLeftOut = known.state.isPartial && index < known.state.nextIndex;
    return isLeftOut ? this.leftOutAt(known, index) : undefined;
  }

  protected abstract leftOutById(known: Folded<Conversation>, turnId: TurnId): Promise<EarlierTurn | undefined>;
  protected abstract leftOutAt(known: Folded<Conversation>, index: number): Promise<EarlierTurn | undefined>;
}

/**
 * A decision that begins a turn which the fold `known` and the read model do not have. On a later state it begins nothing if that may
 * have omitted the turn since: another process may have begun and ended it. Then both are read again.
 */
export const unlessOmitted =
  (turnId: TurnId, known: Conversation, decide: Decide): Decide =>
  (state) =>
    state === known || !state.isPartial || state.turns.has(turnId) ? decide(state) : [];
