import type { Admission } from './usage-limits.port.js';

/** The turns that one process remembers, at most; the one that was admitted longest ago is forgotten first. */
export const TURNS_UNDER_WAY_MAX = 10_000;

/**
 * Turns that this process has admitted and whose usage its read model may not have yet. A read model lags: without this, what an
 * answer used that has just ended would not count for the next question of who has read it.
 */
export class TurnsUnderWay {
  /** In the order of their admission. Several may go on with one turn at once; one of them wins, and the others leave. */
  private readonly turns = new Map<string, readonly Admission[]>();
  /** The turns whose end their owner has seen, in that order. */
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

  told(turnId: string): void {
    const turn = this.turns.get(turnId)?.at(-1);
    if (turn) setLast(this.ended, turnId, turn);
  }

  /** The turns of an owner whose end the owner has seen. */
  admittedFor(ownerId: string): readonly Admission[] {
    return [...this.ended.values()].filter((turn) => turn.ownerId === ownerId);
  }

  /** The read model has all that was told of these; what was admitted or told again meanwhile stays. */
  settled(turns: readonly Admission[]): void {
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
