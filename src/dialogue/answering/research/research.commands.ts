import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { askClarification, purge, recordPlan, recordReport, type Research, research } from './research.decider.js';
import { type ResearchPlanned, researchStream, type ResearchStepReported } from './research.events.js';

/** Records the question with which a research asks its user for clarification. */
export class AskResearchClarification extends Command<Folded<Research>> {
  constructor(
    readonly turnId: string,
    readonly text: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AskResearchClarification)
export class AskResearchClarificationHandler implements Handler<AskResearchClarification> {
  constructor(private readonly streams: Streams) {}

  execute({ turnId, text, cause }: AskResearchClarification): Promise<Folded<Research>> {
    return this.streams.record(researchStream(turnId), research, askClarification(turnId, text), cause);
  }
}

/**
 * Records the plan of a research. Resolves to the state with the recorded plan, which another producer may have recorded first.
 */
export class RecordResearchPlan extends Command<Folded<Research>> {
  constructor(
    readonly planned: ResearchPlanned['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RecordResearchPlan)
export class RecordResearchPlanHandler implements Handler<RecordResearchPlan> {
  constructor(private readonly streams: Streams) {}

  execute({ planned, cause }: RecordResearchPlan): Promise<Folded<Research>> {
    return this.streams.record(researchStream(planned.turnId), research, recordPlan(planned), cause);
  }
}

/** Records the report of a finished step, so that no producer repeats the step. */
export class RecordResearchReport extends Command<Folded<Research>> {
  constructor(
    readonly reported: ResearchStepReported['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RecordResearchReport)
export class RecordResearchReportHandler implements Handler<RecordResearchReport> {
  constructor(private readonly streams: Streams) {}

  execute({ reported, cause }: RecordResearchReport): Promise<Folded<Research>> {
    return this.streams.record(researchStream(reported.turnId), research, recordReport(reported), cause);
  }
}

/** Purges the plan and the findings of a research. */
export class PurgeResearch extends Command {
  constructor(
    readonly turnId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeResearch)
export class PurgeResearchHandler implements Handler<PurgeResearch> {
  constructor(private readonly streams: Streams) {}

  async execute({ turnId, cause }: PurgeResearch): Promise<void> {
    await this.streams.transact(researchStream(turnId), research, purge(turnId), cause);
  }
}

export const researchHandlers = [
  AskResearchClarificationHandler,
  PurgeResearchHandler,
  RecordResearchPlanHandler,
  RecordResearchReportHandler,
];
