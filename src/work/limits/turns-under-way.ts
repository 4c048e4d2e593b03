import type { Admission } from './usage-limits.port.js';

/** Maximum number of turns in memory. The oldest is dropped first. */
export const TURNS_UNDER_WAY_MAX = 10_000;

/**
 * Turns that this process has admitted and whose usage the read model may not have yet. Without them, the usage of an answer that
 * has just ended might not count for the reader's next question, because the read model lags.
 */
export class TurnsUnderWay {
  /** The admissions by turn, in order. Several callers may resume a turn at the same time; one wins, and the others withdraw. */
  private readonly turns = new Map<string, readonly Admission[]>();
  /** The turns whose end the owner has seen, in order. */
  private readonly ended = new Map<string, Admission>();

  get size(): number {
    return this.turns.size;
  }

  enter(admission: Admission): void {
    setLast(this.turns, admission.turnId, [...(this.turns.get(admission.turnId) ?? []), admission]);
  }

  leave(admission: Admission): void {
    const others = (this.turns.get(admission.turnId) ?? []).filter((each) => each !== admission);
    if (others.length === 0) this.turns.delete(admission.turnId);
    else this.turns.set(admission.turnId, others);
  }

  endSeen(turnId: string): void {
    const turn = this.turns.get(turnId)?.at(-1);
    if (turn) setLast(this.ended, turnId, turn);
  }

  /** The turns whose end this owner has seen. */
  admittedFor(ownerId: string): readonly Admission[] {
    return [...this.ended.values()].filter((turn) => turn.ownerId === ownerId);
  }

  /** Removes turns that the read model has. Turns that were admitted or ended again meanwhile stay. */
  forget(turns: readonly Admission[]): void {
    for (const turn of turns) {
      this.leave(turn);
      if (this.ended.get(turn.turnId) === turn) this.ended.delete(turn.turnId);
    }
  }
}

function setLast<T>(turns: Map<string, T>, turnId: string, turn: T): void {
  turns.delete(turnId);
  turns.set(turnId, turn);
  if (turns.size > TURNS_UNDER_WAY_MAX) turns.delete(turns.keys().next().value!);
}
