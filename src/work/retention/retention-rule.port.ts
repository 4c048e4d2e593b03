import type { Cause } from '../../kernel/event-sourcing/events.js';

/** An item whose retention is over. */
export type Due = Readonly<{ id: string; since: Date }>;

/** A rule for items that are kept for a limited time. Each room finds and purges its own due items. */
export type RetentionRule<D extends Due = Due> = Readonly<{
  name: string;
  /** The page size, for items that take more work than others. */
  pageMax?: number;
  /** The due items, longest due first, after the last one of the previous page. */
  due(now: Date, limit: number, after: D | undefined): Promise<readonly D[]>;
  /** Records the purge. A repetition does nothing. */
  purge(due: readonly D[], cause: Cause): Promise<void>;
}>;

/** The rules of all rooms. */
export class RetentionRules {
  constructor(readonly all: readonly RetentionRule[]) {}
}
