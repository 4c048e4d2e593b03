/** How often something came about that a simulation exists for: one that never gets there shows nothing, however green it is. */
export class Coverage {
  readonly counts = new Map<string, number>();

  note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}
