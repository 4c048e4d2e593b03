/** What takes part in a run: clients and what they ask, troubles, faults. Each can be left out, which leaves the others as they are. */
export class Parts {
  /** All that could have taken part. */
  readonly known = new Set<string>();

  constructor(private readonly leftOut: ReadonlySet<string>) {}

  has(part: string): boolean {
    this.known.add(part);
    return !this.leftOut.has(part);
  }
}
