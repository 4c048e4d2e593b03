import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { guardrailRecord, purgeRecord, record } from './guardrail-record.decider.js';
import { type GuardrailSubject, guardrailStream } from './guardrail-record.events.js';
import type { GuardrailDecision } from './guardrail-decisions.policy.js';

/**
 * Records the decisions about a turn, run or delivery. `decisions` are all decisions so far, merged by `mergeDecisions` into one
 * per control. Repeating the command has no effect.
 */
export class RecordGuardrailDecisions extends Command {
  constructor(
    readonly subject: GuardrailSubject,
    readonly decisions: readonly GuardrailDecision[],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RecordGuardrailDecisions)
export class RecordGuardrailDecisionsHandler implements Handler<RecordGuardrailDecisions> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ subject, decisions, cause }: RecordGuardrailDecisions): Promise<void> {
    if (decisions.length === 0) return;
    const decide = record(subject, decisions, this.clock.now());
    await this.streams.transact(guardrailStream(subject.recordId), guardrailRecord, decide, cause);
  }
}

/** Purges a record that has not changed since `recordedBefore`. */
export class PurgeGuardrailRecord extends Command {
  constructor(
    readonly recordId: string,
    readonly recordedBefore: Date,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeGuardrailRecord)
export class PurgeGuardrailRecordHandler implements Handler<PurgeGuardrailRecord> {
  constructor(private readonly streams: Streams) {}

  async execute({ recordId, recordedBefore, cause }: PurgeGuardrailRecord): Promise<void> {
    await this.streams.transact(guardrailStream(recordId), guardrailRecord, purgeRecord(recordId, recordedBefore), cause);
  }
}
