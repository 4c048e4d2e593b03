import { Injectable } from '@nestjs/common';
import { ExpiringQueries, type OldContinuation } from '../../../../projections/expiring/expiring.queries.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Commands } from '../../../kernel/commands.js';
import type { RetentionRule } from '../../../work/retention/retention-rule.port.js';
import { DropContinuation } from '../continuations/continuation.commands.js';
import { Continuations } from '../continuations/continuations.js';

/**
 * Deletes the continuations of paused turns that are over, then appends the event that records the deletion. After a crash in
 * between, the second attempt finds nothing to delete and appends the event.
 */
@Injectable()
export class DropContinuations implements RetentionRule<OldContinuation> {
  readonly name = 'what paused turns go on from';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly kept: Continuations,
    private readonly commands: Commands,
  ) {}

  due(now: Date, limit: number, after?: OldContinuation): Promise<readonly OldContinuation[]> {
    return this.expiring.continuations(now, limit, after);
  }

  purge(due: readonly OldContinuation[], cause: Cause): Promise<void> {
    return eachOf(due, async ({ id: sha256, turnId }) => {
      await this.kept.drop(sha256);
      await this.commands.execute(new DropContinuation(turnId, sha256, cause));
    });
  }
}
