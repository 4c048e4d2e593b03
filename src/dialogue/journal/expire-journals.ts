import { Injectable } from '@nestjs/common';
import { ExpiringQueries, type OldOutput } from '../../../projections/expiring/expiring.queries.js';
import { messageStream } from './message.events.js';
import { Commands } from '../../kernel/commands.js';
import { eachOf } from '../../kernel/each-of.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { ExpireJournalsOf } from './journals.commands.js';
import { hourOf } from './journals.events.js';
import { JournalOptions } from './journal-options.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';

/**
 * Expires the journals of answers. The store deletes them by their maximum age. This rule sets the age again, in case a journal
 * was sealed under another setting, and records the expiry, with one event for the journals of each hour.
 */
@Injectable()
export class ExpireJournals implements RetentionRule<OldOutput> {
  readonly name = 'journals of answers';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly store: EventStore,
    private readonly commands: Commands,
    private readonly options: JournalOptions,
  ) {}

  due(now: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    return this.expiring.journals(new Date(now.getTime() - 1000 * this.options.retentionSeconds), limit, after);
  }

  async purge(due: readonly OldOutput[], cause: Cause): Promise<void> {
    const maxAgeSeconds = this.options.retentionSeconds;
    const bounded: OldOutput[] = [];
    const bound = async (journal: OldOutput) => {
      await this.store.setRetention(messageStream(journal.id), { maxAgeSeconds });
      bounded.push(journal);
    };
    try {
      await eachOf(due, bound);
    } finally {
      await this.expire(bounded, cause);
    }
  }

  private async expire(journals: readonly OldOutput[], cause: Cause): Promise<void> {
    await eachOf([...new Set(journals.map(({ since }) => hourOf(since)))], (hour) => {
      const turnIds = journals.filter(({ since }) => hourOf(since) === hour).map(({ id }) => id);
      return this.commands.execute(new ExpireJournalsOf(hour, turnIds, cause));
    });
  }
}
