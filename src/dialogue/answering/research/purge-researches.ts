import { Injectable } from '@nestjs/common';
import { ExpiringQueries, type OldOutput } from '../../../../projections/expiring/expiring.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../../work/retention/retention-rule.port.js';
import { AnsweringOptions } from '../loop/answering-options.js';
import { PurgeResearch } from './research.commands.js';

/** Purges plans and findings of research after the retention time of the journals of answers. */
@Injectable()
export class PurgeResearches implements RetentionRule<OldOutput> {
  readonly name = 'findings of researches';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly commands: Commands,
    private readonly options: AnsweringOptions,
  ) {}

  due(now: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    const { messageEventsRetentionSeconds } = this.options.settings;
    return this.expiring.researches(new Date(now.getTime() - 1000 * messageEventsRetentionSeconds), limit, after);
  }

  purge(due: readonly OldOutput[], cause: Cause): Promise<void> {
    return eachOf(due, ({ id }) => this.commands.execute(new PurgeResearch(id, cause)));
  }
}
