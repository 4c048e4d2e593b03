import { Injectable } from '@nestjs/common';
import { ExpiringQueries, type OldContinuation } from '../../../../projections/expiring/expiring.queries.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { RetentionRule } from '../../../work/retention/retention-rule.port.js';
import { continuations, dropContinuation } from '../loop/continuation.decider.js';
import { continuationStream } from '../loop/continuation.events.js';
import { Continuations } from '../loop/continuations.js';

/**
 * What paused turns were to go on from, of turns that are over. First it is deleted, then that is stated: a crash in between
 * deletes nothing the second time, and states it.
 */
@Injectable()
export class DropContinuations implements RetentionRule<OldContinuation> {
  readonly name = 'what paused turns go on from';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly kept: Continuations,
    private readonly streams: Streams,
  ) {}

  due(now: Date, limit: number, after?: OldContinuation): Promise<readonly OldContinuation[]> {
    return this.expiring.continuations(now, limit, after);
  }

  forget(due: readonly OldContinuation[], cause: Cause): Promise<void> {
    return eachOf(due, async ({ id: sha256, turnId }) => {
      await this.kept.drop(sha256);
      await this.streams.transact(continuationStream(turnId), continuations, dropContinuation(turnId, sha256), cause);
    });
  }
}
