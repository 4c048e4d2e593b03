import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { type DueSync, SourceQueries } from '../../projections/sources/sources.queries.js';
import type { Cause } from '../kernel/events.js';
import { newId } from '../kernel/ids.js';
import type { Ticker } from '../kernel/ticker.js';
import { BeginDueSync } from './begin-due-sync.command.js';

/** How often somebody looks for sources whose time to sync has come. */
const EVERY_MS = 5_000;
export const SYNCS_PER_PAGE_MAX = 200;
/** A tick ends here; what is left is for the next, which begins with those that wait longest. */
export const SYNCS_PER_TICK_MAX = 2_000;

/**
 * Has sources synced whose time has come. The read model only says where to look: two processes that look at once, or one
 * that looks twice, begin one sync.
 */
@Injectable()
export class SyncSources implements Ticker {
  readonly name = 'sync-sources';
  readonly everyMs = EVERY_MS;

  constructor(
    private readonly commands: CommandBus,
    private readonly sources: SourceQueries,
  ) {}

  async tick(now: Date): Promise<void> {
    const requestId = newId();
    const cause: Cause = { actor: `system:${this.name}`, credential: 'system', correlationId: requestId, causationId: requestId };
    const failures: unknown[] = [];
    let after: DueSync | undefined;
    for (let looked = 0; looked < SYNCS_PER_TICK_MAX; looked += SYNCS_PER_PAGE_MAX) {
      const page = await this.sources.dueForSync(now, SYNCS_PER_PAGE_MAX, after);
      for (const { sourceId, nextSyncAt } of page) {
        const begin = new BeginDueSync(sourceId, nextSyncAt.toISOString(), cause);
        // One that fails does not keep the others waiting.
        await this.commands.execute(begin).catch((error: unknown) => failures.push(error));
      }
      after = page.at(-1);
      if (page.length < SYNCS_PER_PAGE_MAX) break;
    }
    if (failures.length > 0) throw failures[0];
  }
}
