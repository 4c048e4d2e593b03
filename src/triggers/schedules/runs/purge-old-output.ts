import { type ExpiringQueries, type OldOutput } from '../../../../projections/expiring/expiring.queries.js';
import type { Commands } from '../../../kernel/commands.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../../work/retention/retention-rule.port.js';
import { PurgeScheduledRunOutput } from './scheduled-run.commands.js';

/**
 * Purges the output of old scheduled runs except for the newest runs of each schedule. The runs and their results stay in the
 * list.
 */
export class PurgeOldOutput implements RetentionRule<OldOutput> {
  readonly name = 'what scheduled runs said';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly commands: Commands,
    private readonly retentionMs: number,
  ) {}

  due(now: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    return this.expiring.scheduledOutputs(new Date(now.getTime() - this.retentionMs), limit, after);
  }

  purge(due: readonly OldOutput[], cause: Cause): Promise<void> {
    return eachOf(due, ({ id }) => this.commands.execute(new PurgeScheduledRunOutput(id, cause)));
  }
}
