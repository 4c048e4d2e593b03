/** Whose turn comes first: the least goes first, Infinity not at all. */
export type Rank = (ownerId: string) => number;

const ALIKE: Rank = () => 0;

/**
 * Waiting items, by owner. Owners take turns, so that an owner with a thousand items is served as often as an owner with one. The
 * items of an owner come in the order in which they were added.
 */
export class Turns<Item> {
  /** In the order of their turns. */
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

  /** Takes the next one: of the owner with the least rank who has waited longest for a turn. */
  next(rank: Rank = ALIKE): Item | undefined {
    let [first, least]: [string | undefined, number] = [undefined, Infinity];
    for (const ownerId of this.byOwner.keys()) {
      const own = rank(ownerId);
      if (own < least) [first, least] = [ownerId, own];
    }
    return first === undefined ? undefined : this.take(first);
  }

  /** What was taken is done: what its owner has left meanwhile comes after what anybody else has. */
  done(ownerId: string): void {
    const own = this.byOwner.get(ownerId);
    if (!own) return;
    this.byOwner.delete(ownerId);
    this.byOwner.set(ownerId, own);
  }

  /** Takes the newest of the owner who has left most. */
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
    // The owner's next turn is after everybody else's.
    this.byOwner.delete(ownerId);
    if (own.length > 0) this.byOwner.set(ownerId, own);
    this.count--;
    return item;
  }
}
