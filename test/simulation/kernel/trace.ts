const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The trace of a run: a hash (FNV-1a) that two runs of a seed must share, and optionally lines to read. */
export class Trace {
  private hash = FNV_OFFSET;
  readonly lines: string[] = [];
  steps = 0;

  constructor(private readonly isKept: boolean) {}

  add(at: number, who: string, label: string): void {
    this.steps++;
    this.mix(`${at}${who}${label}`);
    if (this.isKept) this.lines.push(`${at.toFixed(1).padStart(9)}  ${who.padEnd(10)} ${label}`);
  }

  get digest(): string {
    return (this.hash >>> 0).toString(16).padStart(8, '0');
  }

  private mix(text: string): void {
    let hash = this.hash;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
    this.hash = hash;
  }
}
