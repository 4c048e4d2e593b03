/** The parts of a run: clients and their requests, troubles, faults. Each can be left out without changing the others. */
export class Parts {
  /** All parts that the seed has. */
  readonly known = new Set<string>();

  constructor(private readonly leftOut: ReadonlySet<string>) {}

  has(part: string): boolean {
    this.known.add(part);
    return !this.leftOut.has(part);
  }
}
