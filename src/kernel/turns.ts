/** The priority of an owner: the lowest is served first, Infinity is not served. */
export type Rank = (ownerId: string) => number;

const ALIKE: Rank = () => 0;

/**
 * A fair queue. Owners are served in turn, so that an owner with a thousand items is served as often as an owner with one. The
 * items of one owner are first in, first out.
 */
export class Turns<Item> {
  /** The owners in the order in which they are served. */
  private readonly byOwner = new Map<string, Item[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  of(ownerId: string): number {
    return this.byOwner.get(ownerId)?.length ?? 0;
  }

  add(ownerId: string, item: Item): void {
    const own = this.byOwner.get(ownerId);
    if (own) own.push(item);
    else this.byOwner.set(ownerId, [item]);
    this.count++;
  }

  /** Removes and returns the first item of the owner with the lowest rank. Among equal ranks, the owner who waits longest is served. */
  next(rank: Rank = ALIKE): Item | undefined {
    let [first, least]: [string | undefined, number] = [undefined, Infinity];
    for (const ownerId of this.byOwner.keys()) {
      const own = rank(ownerId);
      if (own < least) [first, least] = [ownerId, own];
    }
    return first === undefined ? undefined : this.take(first);
  }

  /** Reports that an owner's item is done. The owner's remaining items wait behind those of all other owners. */
  done(ownerId: string): void {
    const own = this.byOwner.get(ownerId);
    if (!own) return;
    this.byOwner.delete(ownerId);
    this.byOwner.set(ownerId, own);
  }

  /** Removes and returns the newest item of the owner with the most waiting items. */
  giveUp(): Item | undefined {
    const most = [...this.byOwner.values()].reduce((long, own) => (own.length > long.length ? own : long), []);
    const item = most.at(-1);
    if (item !== undefined) this.remove(item);
    return item;
  }

  remove(item: Item): void {
    for (const [ownerId, own] of this.byOwner) {
      const place = own.lastIndexOf(item);
      if (place < 0) continue;
      own.splice(place, 1);
      if (own.length === 0) this.byOwner.delete(ownerId);
      this.count--;
      return;
    }
  }

  private take(ownerId: string): Item {
    const own = this.byOwner.get(ownerId)!;
    const item = own.shift()!;
    // The owner moves to the end of the order.
    this.byOwner.delete(ownerId);
    if (own.length > 0) this.byOwner.set(ownerId, own);
    this.count--;
    return item;
  }
}
