import type { Admission } from './usage-limits.port.js';

/** The turns that one process remembers, at most; the one that was admitted longest ago is forgotten first. */
export const TURNS_UNDER_WAY_MAX = 10_000;

type UnderWay = Admission & { isKnown: boolean };

/**
 * Turns that this process has admitted and that its read model may not have yet. A read model lags: without this, concurrent
 * requests would not count each other, nor the usage of an answer that has just ended.
 */
export class TurnsUnderWay {
  /** In the order of their admission. */
  private readonly turns = new Map<string, UnderWay>();
  /** The turns whose end their owner has seen, in that order. */
  private readonly ended = new Map<string, UnderWay>();

  get size(): number {
    return this.turns.size;
  }

  enter(admission: Admission): void {
    setLast(this.turns, admission.turnId, { ...admission, isKnown: !admission.isNewRequest });
  }

  leave(turnId: string): void {
    this.turns.delete(turnId);
  }

  /** The read model has them as requests by now. */
  known(turnIds: readonly string[]): void {
    for (const turnId of turnIds) {
      const turn = this.turns.get(turnId);
      if (turn) turn.isKnown = true;
    }
  }

  /** New requests with a key of the agent that were admitted, or are about to be, before another, as far as they are not known. */
  before({ turnId, agent }: Admission): readonly string[] {
    const ahead: string[] = [];
    for (const turn of this.turns.values()) {
      if (turn.turnId === turnId) break;
      if (!turn.isKnown && turn.agent?.id === agent?.id) ahead.push(turn.turnId);
    }
    return ahead;
  }

  told(turnId: string): void {
    const turn = this.turns.get(turnId);
    if (turn) setLast(this.ended, turnId, turn);
  }

  /** The turns of an owner whose end the owner has seen. */
  admittedFor(ownerId: string): readonly Admission[] {
    return [...this.ended.values()].filter((turn) => turn.ownerId === ownerId);
  }

  /** The read model has all that was told of these; what was admitted or told again meanwhile stays. */
  settled(turns: readonly Admission[]): void {
    for (const turn of turns)
      for (const from of [this.turns, this.ended]) if (from.get(turn.turnId) === turn) from.delete(turn.turnId);
  }
}

function setLast(turns: Map<string, UnderWay>, turnId: string, turn: UnderWay): void {
  turns.delete(turnId);
  turns.set(turnId, turn);
  if (turns.size > TURNS_UNDER_WAY_MAX) turns.delete(turns.keys().next().value!);
}
