import type { Ids } from '../../../src/kernel/ids.js';
import type { Seeded } from '../../support/seeded.js';

/** Ids from a seed. */
export class SeededIds implements Ids {
  constructor(private readonly chance: Seeded) {}

  next(): string {
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`;
  }

  private hex(count: number): string {
    return Array.from({ length: count }, () => this.chance.between(0, 15).toString(16)).join('');
  }
}
