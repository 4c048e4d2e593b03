import type { Cause } from '../../kernel/event-sourcing/events.js';

/** Something whose time is over. */
export type Due = Readonly<{ id: string; since: Date }>;

/** Something that is kept for a limited time. Each feature says what is due, and purges it. */
export type RetentionRule<D extends Due = Due> = Readonly<{
  name: string;
  /** What is due, that which has been due longest first, after the last of the page before. */
  due(now: Date, limit: number, after: D | undefined): Promise<readonly D[]>;
  /** Records the purge. Repeated, it adds nothing. */
  purge(due: readonly D[], cause: Cause): Promise<void>;
}>;

/** Everything that is kept for a time only. Features add theirs when they are built. */
export class RetentionRules {
  private readonly rules: RetentionRule[] = [];

  add<D extends Due>(rule: RetentionRule<D>): void {
    this.rules.push(rule);
  }

  get all(): readonly RetentionRule[] {
    return this.rules;
  }
}
