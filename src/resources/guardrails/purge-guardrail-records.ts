import { Injectable } from '@nestjs/common';
import {
  GuardrailEventQueries,
  type OldGuardrailRecord,
} from '../../../projections/guardrail-events/guardrail-events.queries.js';
import { Clock } from '../../kernel/clock.js';
import { Commands } from '../../kernel/commands.js';
import { eachOf } from '../../kernel/each-of.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';
import { GuardrailOptions } from './guardrail-options.js';
import { PurgeGuardrailRecord } from './guardrail-record.commands.js';

/** Purges records that have not changed for the retention time. */
@Injectable()
export class PurgeGuardrailRecords implements RetentionRule<OldGuardrailRecord> {
  readonly name = 'decisions of guardrails';

  constructor(
    private readonly records: GuardrailEventQueries,
    private readonly commands: Commands,
    private readonly clock: Clock,
    private readonly options: GuardrailOptions,
  ) {}

  due(now: Date, limit: number, after?: OldGuardrailRecord): Promise<readonly OldGuardrailRecord[]> {
    return this.records.recordedBefore(this.keptSince(now), limit, after);
  }

  purge(due: readonly OldGuardrailRecord[], cause: Cause): Promise<void> {
    const keptSince = this.keptSince(this.clock.now());
    return eachOf(due, ({ id }) => this.commands.execute(new PurgeGuardrailRecord(id, keptSince, cause)));
  }

  private keptSince(now: Date): Date {
    return new Date(now.getTime() - this.options.settings.retentionMs);
  }
}
