import { type ExpiringQueries, type OldWebhookRun } from '../../../projections/expiring/expiring.queries.js';
import { eachOf } from '../../kernel/each-of.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';
import type { Runs } from '../../background/runs/runs.port.js';

/** Purges old runs of webhooks, with their input and output. */
export class PurgeWebhookRuns implements RetentionRule<OldWebhookRun> {
  readonly name = 'runs of webhooks';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly runs: Runs,
    private readonly retentionMs: number,
  ) {}

  due(now: Date, limit: number, after?: OldWebhookRun): Promise<readonly OldWebhookRun[]> {
    return this.expiring.webhookRuns(new Date(now.getTime() - this.retentionMs), limit, after);
  }

  purge(due: readonly OldWebhookRun[], cause: Cause): Promise<void> {
    return eachOf(due, ({ id, stream, revision }) => this.runs.purge(id, { stream, revision }, cause));
  }
}
