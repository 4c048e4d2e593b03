/** Finds many terms in one pass over a text (Aho and Corasick). */
export class Terms {
  private readonly next: Map<number, number>[] = [new Map<number, number>()];
  private readonly fail: number[] = [0];
  /** The lengths of the terms that end in each state. */
  private readonly lengths: number[][] = [[]];

  constructor(terms: readonly string[]) {
    for (const term of new Set(terms)) if (term !== '') this.add(term);
    this.link();
  }

  /** Where each term stands, also where terms overlap. */
  *in(text: string): Generator<Readonly<{ start: number; end: number }>> {
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      state = this.after(state, text.charCodeAt(at));
      for (const length of this.lengths[state]!) yield { start: at + 1 - length, end: at + 1 };
    }
  }

  private add(term: string): void {
    let state = 0;
    for (let at = 0; at < term.length; at++) {
      const code = term.charCodeAt(at);
      const known = this.next[state]!.get(code);
      if (known === undefined) {
        this.next[state]!.set(code, this.next.length);
        state = this.next.push(new Map()) - 1;
        this.fail.push(0);
        this.lengths.push([]);
      } else state = known;
    }
    this.lengths[state]!.push(term.length);
  }

  /** Each state fails to the longest other one that its text ends with, whose terms end there too. */
  private link(): void {
    const open = [...this.next[0]!.values()];
    for (const state of open) {
      for (const [code, child] of this.next[state]!) {
        this.fail[child] = this.after(this.fail[state]!, code);
        this.lengths[child]!.push(...this.lengths[this.fail[child]]!);
        open.push(child);
      }
    }
  }

  private after(state: number, code: number): number {
    for (let from = state; ; from = this.fail[from]!) {
      const next = this.next[from]!.get(code);
      if (next !== undefined) return next;
      if (from === 0) return 0;
    }
  }
}
