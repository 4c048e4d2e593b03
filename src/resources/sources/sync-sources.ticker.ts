import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { type DueSync, SourceQueries } from '../../../projections/sources/sources.queries.js';
import { collectFailures } from '../../kernel/each-of.js';
import { FAILED_MAX } from '../../kernel/failures.js';
import { Ids } from '../../kernel/ids.js';
import { causeOfTick, type Ticker } from '../../kernel/event-sourcing/ticker.js';
import { BeginDueSync } from './source/sync.commands.js';

/** The interval of checks for due syncs. */
const EVERY_MS = 5_000;
export const SYNCS_PER_PAGE_MAX = 200;
/**
 * The maximum number of syncs in a tick, without those that failed before. The next tick continues with those that have waited
 * longest.
 */
export const SYNCS_PER_TICK_MAX = 2_000;

/**
 * Begins due syncs of sources. The read model only finds candidates, and the command decides. So two processes that check at
 * once, or one that checks twice, begin one sync.
 */
@Injectable()
export class SyncSources implements Ticker {
  readonly name = 'sync-sources';
  readonly everyMs = EVERY_MS;
  /** The number of syncs that could not begin. They are tried again, and do not take the room of others. */
  private failed = 0;

  constructor(
    private readonly commands: Commands,
    private readonly sources: SourceQueries,
    private readonly ids: Ids,
  ) {}

  async tick(now: Date): Promise<void> {
    const failures: unknown[] = [];
    const most = SYNCS_PER_TICK_MAX + Math.min(this.failed, FAILED_MAX);
    let after: DueSync | undefined;
    for (let checked = 0; checked < most; checked += SYNCS_PER_PAGE_MAX) {
      const page = await this.sources.dueForSync(now, SYNCS_PER_PAGE_MAX, after);
      const begin = ({ sourceId, nextSyncAt }: DueSync) =>
        this.commands.execute(new BeginDueSync(sourceId, nextSyncAt.toISOString(), causeOfTick(this, this.ids.next())));
      failures.push(...(await collectFailures(page, begin)));
      after = page.at(-1);
      if (page.length < SYNCS_PER_PAGE_MAX) break;
    }
    this.failed = failures.length;
    if (failures.length > 0) throw failures[0];
  }
}
