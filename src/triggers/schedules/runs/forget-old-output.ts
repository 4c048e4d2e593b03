import { type ExpiringQueries, type OldOutput } from '../../../../projections/expiring/expiring.queries.js';
import { type Clock } from '../../../kernel/clock.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Streams } from '../../../kernel/event-sourcing/streams.js';
import type { RetentionRule } from '../../../work/retention/retention-rule.port.js';
import { forgetOutput, scheduledRun } from './scheduled-run.decider.js';
import { scheduledRunStream } from './scheduled-run.events.js';

/** What scheduled runs said, but for the newest runs of each schedule. That they ran, and how it went, stays for ever. */
export class ForgetOldOutput implements RetentionRule<OldOutput> {
  readonly name = 'what scheduled runs said';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly retentionMs: number,
  ) {}

  due(now: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    return this.expiring.scheduledOutputs(new Date(now.getTime() - this.retentionMs), limit, after);
  }

  forget(due: readonly OldOutput[], cause: Cause): Promise<void> {
    return eachOf(due, ({ id }) =>
      this.streams.transact(scheduledRunStream(id), scheduledRun, forgetOutput(id, this.clock.now()), cause),
    );
  }
}
