import type { Life } from './actor.js';

export type Entry = Readonly<{ at: number; order: number; of: Life; label: string; act: () => void; isCancelled: () => boolean }>;

const isBefore = (one: Entry, other: Entry): boolean => one.at < other.at || (one.at === other.at && one.order < other.order);

/** Future entries, earliest first: a binary heap. */
export class Agenda {
  private readonly heap: Entry[] = [];

  get size(): number {
    return this.heap.length;
  }

  add(entry: Entry): void {
    const { heap } = this;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  next(): Entry | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
