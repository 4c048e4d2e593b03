import { Injectable, Logger } from '@nestjs/common';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { Ids } from '../../kernel/ids.js';
import { causeOfTick, type Ticker } from '../../kernel/event-sourcing/ticker.js';
import { type Due, type RetentionRule, RetentionRules } from './retention-rule.port.js';
import { RetentionOptions } from './retention-options.js';

/** Page size of a read of due items, for rules without their own. */
export const DUE_PER_PAGE_MAX = 500;
/** Maximum number of items per rule and tick. The next tick continues with the items that are due longest. */
export const DUE_PER_TICK_MAX = 50_000;

/**
 * Purges everything whose retention is over. The read model only finds candidates; the commands purge each once, also if two
 * processes run at the same time.
 */
@Injectable()
export class ApplyRetention implements Ticker {
  readonly name = 'apply-retention';
  private readonly logger = new Logger(ApplyRetention.name);

  constructor(
    private readonly rules: RetentionRules,
    private readonly expiring: ExpiringQueries,
    private readonly store: EventStore,
    private readonly freshness: Freshness,
    private readonly options: RetentionOptions,
    private readonly ids: Ids,
  ) {}

  get everyMs(): number {
    return this.options.everyMs;
  }

  /** What is due is due by two clocks, because a purge is final and the clock of one process may be far ahead. */
  async tick(clock: Date): Promise<void> {
    const database = await this.expiring.now();
    const now = clock < database ? clock : database;
    const cause = causeOfTick(this, this.ids.next());
    for (const rule of this.rules.all) await this.apply(rule, now, cause).catch((error) => this.failed(rule, error));
  }

  /**
   * Applies a rule. What fails waits for the next tick; the other pages and rules continue. A page follows once the read models show
   * the purges of the one before, because otherwise a long pass would keep them behind for all users.
   */
  private async apply(rule: RetentionRule, now: Date, cause: Cause): Promise<void> {
    const { pageMax = DUE_PER_PAGE_MAX } = rule;
    let last: Due | undefined;
    for (let checked = 0; checked < DUE_PER_TICK_MAX; checked += pageMax) {
      const due = await rule.due(now, pageMax, last);
      await rule.purge(due, cause).catch((error) => this.failed(rule, error));
      if (due.length < pageMax) return;
      await this.freshness.reached(['expiring'], await this.store.head());
      last = due.at(-1);
    }
  }

  private failed({ name }: RetentionRule, error: unknown): void {
    this.logger.error(`Not all of ${name} could be purged; the next tick tries again.`, error);
  }
}
