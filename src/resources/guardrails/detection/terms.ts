const BLANK = /\s/;
const SPACE = 0x20;
const DELETE = 0x7f;

/** Most characters are printable ASCII, which is recognised without a pattern. */
const isWhiteSpace = (code: number): boolean => (code <= SPACE || code > DELETE) && BLANK.test(String.fromCharCode(code));

/** Maximum number of white space characters that match one white space of a term. */
export const GAP_MAX = 8;

/** Where in a text an occurrence may begin and end. */
type Edges = Readonly<{ mayBegin: (place: number) => boolean; mayEnd: (place: number) => boolean }>;

const ANYWHERE: Edges = { mayBegin: () => true, mayEnd: () => true };

/**
 * Finds many terms in one pass over a text (Aho-Corasick). White space in a term matches any white space of up to `GAP_MAX`
 * characters.
 */
export class Terms {
  private readonly next: Map<number, number>[] = [new Map<number, number>()];
  private readonly fail: number[] = [0];
  /** The lengths of the terms that end in each state, the longest first. */
  private readonly lengths: number[][] = [[]];

  constructor(terms: readonly string[]) {
    for (const term of new Set(terms.map((each) => each.replace(/\s+/g, ' ')))) if (term !== '') this.add(term);
    this.link();
  }

  /**
   * The positions of the occurrences that `edges` allow, also overlapping ones. Of those that end in the same place, the longest, so
   * that there are no more than characters, whatever the terms are.
   */
  *longestIn(text: string, { mayBegin, mayEnd }: Edges = ANYWHERE): Generator<Readonly<{ start: number; end: number }>> {
    let state = 0;
    /** The position of each compared character; for a run of white space, of its first character. */
    const places: number[] = [];
    let followsBlank = false;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const isBlank = isWhiteSpace(code);
      const gap = isBlank && followsBlank ? at - places.at(-1)! + 1 : 1;
      followsBlank = isBlank;
      if (gap > 1 && gap <= GAP_MAX) continue;
      places.push(at);
      state = this.after(state, isBlank ? SPACE : code);
      const lengths = this.lengths[state]!;
      if (lengths.length === 0 || !mayEnd(at + 1)) continue;
      const longest = lengths.find((length) => mayBegin(places[places.length - length]!));
      if (longest !== undefined) yield { start: places[places.length - longest]!, end: at + 1 };
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

  /** Links each state to the state of its longest proper suffix and adds the terms that end there. */
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
