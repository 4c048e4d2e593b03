/** Counts the situations that a simulation is meant to reach. A run that never reaches them proves nothing. */
export class Coverage {
  readonly counts = new Map<string, number>();

  note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
