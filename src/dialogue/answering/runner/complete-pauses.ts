import type { PausedTurn } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';

export const PAUSES_REMEMBERED_MAX = 10_000;

type Pause = Pick<PausedTurn, 'turnId' | 'pausedUntil'>;

/**
 * The pauses whose frames are known to be complete in the journal, each identified by its turn and the time at which it expires.
 * Sweeps read all pauses in rounds, a page in each sweep. After a round only the pauses that it has shown are remembered, at most
 * PAUSES_REMEMBERED_MAX of them.
 */
export class CompletePauses {
  private known: ReadonlyMap<string, number> = new Map();
  private shown = new Map<string, number>();

  add({ turnId, pausedUntil }: Pause): void {
    if (this.shown.size < PAUSES_REMEMBERED_MAX) this.shown.set(turnId, pausedUntil.getTime());
  }

  /** Takes a pause that this round shows. Returns whether it is known. */
  isKnown(pause: Pause): boolean {
    const until = pause.pausedUntil.getTime();
    if (this.shown.get(pause.turnId) === until) return true;
    if (this.known.get(pause.turnId) !== until) return false;
    this.add(pause);
    return true;
  }

  endRound(): void {
    this.known = this.shown;
    this.shown = new Map();
  }
}
