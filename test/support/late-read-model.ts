import { Freshness } from '../../src/kernel/event-sourcing/freshness.js';

/** A read model whose position is the highest that a caller has waited for. */
export class LateReadModel extends Freshness {
  private position = -1n;

  constructor(private readonly name: string) {
    super();
  }

  shows(position: bigint): boolean {
    return position <= this.position;
  }

  override reached(projections: readonly string[], position: bigint | undefined): Promise<boolean> {
    if (position !== undefined && projections.includes(this.name)) this.position = position;
    return Promise.resolve(true);
  }
}
