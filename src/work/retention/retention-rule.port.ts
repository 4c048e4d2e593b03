import type { Cause } from '../../kernel/event-sourcing/events.js';

/** Something whose time is over. */
export type Due = Readonly<{ id: string; since: Date }>;

/** Something that is kept for a limited time. Each room says what of its own is due, and purges it. */
export type RetentionRule<D extends Due = Due> = Readonly<{
  name: string;
  /** What is due, that which has been due longest first, after the last of the page before. */
  due(now: Date, limit: number, after: D | undefined): Promise<readonly D[]>;
  /** Records the purge. Repeated, it adds nothing. */
  purge(due: readonly D[], cause: Cause): Promise<void>;
}>;

/** The rules of all rooms. */
export class RetentionRules {
  constructor(readonly all: readonly RetentionRule[]) {}
}
