import { Injectable } from '@nestjs/common';
import { type OldTraces, TraceQueries } from '../../../projections/traces/traces.queries.js';
import { CLOCKS_APART_MS_MAX } from '../../kernel/clocks-apart.js';
import { Commands } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';
import { ExpireTracesBefore } from './expired-traces.commands.js';
import { TracesOptions } from './traces-options.js';

/** Maximum number of rows of the read model, traces and spans, that expire with one event. */
export const ROWS_PER_EVENT_MAX = 2_000;
/** Maximum number of pages per tick of the retention, so that other rules do not wait for long. The next tick continues. */
export const PAGES_PER_TICK_MAX = 20;
/** Maximum number of events that wait for the read model. The next ones follow when it has deleted these rows. */
export const EVENTS_PER_PAGE_MAX = 50;

const HOUR_MS = 3_600_000;

/**
 * Expires the traces of whole hours, so that an hour of few traces needs one event. A trace expires only when no process shows it
 * any more, also one whose clock is behind, and its spans too, although the clock of another process may have been behind.
 */
@Injectable()
export class ExpireTraces implements RetentionRule<OldTraces> {
  readonly name = 'traces';
  readonly pageMax = EVENTS_PER_PAGE_MAX;
  /** The last event of this page. */
  private position: bigint | undefined;
  private pages = 0;

  constructor(
    private readonly traces: TraceQueries,
    private readonly commands: Commands,
    private readonly options: TracesOptions,
    private readonly freshness: Freshness,
  ) {}

  async due(now: Date, limit: number, after?: OldTraces): Promise<readonly OldTraces[]> {
    this.pages = after ? this.pages + 1 : 1;
    if (this.pages > PAGES_PER_TICK_MAX || (after && !(await this.hasFollowed()))) return [];
    const hidden = now.getTime() - this.options.retentionMs - CLOCKS_APART_MS_MAX;
    return this.traces.batchesBefore(new Date(hidden - (hidden % HOUR_MS)), ROWS_PER_EVENT_MAX, limit);
  }

  async purge(due: readonly OldTraces[], cause: Cause): Promise<void> {
    this.position = undefined;
    for (const { since } of due) {
      const expire = new ExpireTracesBefore(new Date(since.getTime() + 1), cause);
      this.position = (await this.commands.execute(expire)) ?? this.position;
    }
  }

  /** Whether the read model has deleted the rows of a page. Until then, the rows of the next page are the same. */
  private async hasFollowed(): Promise<boolean> {
    return this.position !== undefined && this.freshness.reached(['traces'], this.position);
  }
}
