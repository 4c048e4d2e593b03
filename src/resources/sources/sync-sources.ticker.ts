import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { type DueSync, SourceQueries } from '../../../projections/sources/sources.queries.js';
import { eachOf } from '../../kernel/each-of.js';
import { Failures } from '../../kernel/failures.js';
import { Ids } from '../../kernel/ids.js';
import { causeOfTick, type Ticker } from '../../kernel/event-sourcing/ticker.js';
import { BeginDueSync } from './source/sync.commands.js';
import type { SourceId } from './source/source.events.js';

/** The interval of checks for due syncs. */
const EVERY_MS = 5_000;
/** The maximum number of syncs in a tick. The next tick continues with those that have waited longest. */
export const SYNCS_PER_TICK_MAX = 2_000;

const idOf = ({ sourceId }: DueSync): SourceId => sourceId;

/**
 * Begins due syncs of sources. The read model only finds candidates, and the command decides. So two processes that check at
 * once, or one that checks twice, begin one sync.
 */
@Injectable()
export class SyncSources implements Ticker {
  readonly name = 'sync-sources';
  readonly everyMs = EVERY_MS;
  /** The sources whose syncs could not begin. */
  private readonly failures = new Failures();

  constructor(
    private readonly commands: Commands,
    private readonly sources: SourceQueries,
    private readonly ids: Ids,
  ) {}

  async tick(now: Date): Promise<void> {
    const due = await this.sources.dueForSync(now, this.failures.pageFor(SYNCS_PER_TICK_MAX));
    this.failures.retain(due.map(idOf));
    const next = this.failures.next(due, idOf, SYNCS_PER_TICK_MAX);
    await eachOf(next, (sync) => this.failures.attempt(sync.sourceId, () => this.begin(sync)));
  }

  private begin({ sourceId, nextSyncAt }: DueSync): Promise<unknown> {
    return this.commands.execute(new BeginDueSync(sourceId, nextSyncAt.toISOString(), causeOfTick(this, this.ids.next())));
  }
}
