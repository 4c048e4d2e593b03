/** The callers whose last write is remembered, at most; the one who wrote longest ago is forgotten first. */
const CALLERS_MAX = 10_000;

/** How far each caller's last write through this process reached, so that what it reads next can wait for it. */
export class LastWrites {
  private readonly positions = new Map<string, bigint>();

  note(callerId: string, position: bigint | undefined): void {
    if (position === undefined) return;
    const before = this.positions.get(callerId);
    this.positions.delete(callerId);
    this.positions.set(callerId, before !== undefined && before > position ? before : position);
    if (this.positions.size > CALLERS_MAX) this.positions.delete(this.positions.keys().next().value!);
  }

  of(callerId: string): bigint | undefined {
    return this.positions.get(callerId);
  }
}
