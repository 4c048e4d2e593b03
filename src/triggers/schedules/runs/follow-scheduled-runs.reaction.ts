import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { runCodec } from '../../../background/runs/run.codec.js';
import type { RunFailed, RunFinished, RunRefused, RunStarted } from '../../../background/runs/run.events.js';
import { EndScheduleRun } from '../schedule/slot-ledger.commands.js';
import { outcomeOf, type RunOver } from './run-outcome.policy.js';
import { ReportScheduledRun, StartScheduledRun } from './scheduled-run.commands.js';

type Followed = RunStarted | RunOver;

/**
 * Records the progress of runs for their schedules. Steps at the end of a run: find its schedule, and ignore other runs; record
 * the answer; report the end to the schedule. A crash after a step repeats them, and each is recorded once.
 */
@Injectable()
export class FollowScheduledRuns implements Reaction<Followed> {
  readonly name = 'follow-scheduled-runs';
  readonly categories = ['run'];
  readonly codec: Codec<Followed> = runCodec;
  readonly on = {
    RunStarted: (event: Recorded<RunStarted>) => this.started(event),
    RunFinished: (event: Recorded<RunFinished>) => this.over(event),
    RunRefused: (event: Recorded<RunRefused>) => this.over(event),
    RunFailed: (event: Recorded<RunFailed>) => this.over(event),
  };

  constructor(private readonly commands: Commands) {}

  private async started(event: Recorded<RunStarted>): Promise<void> {
    const { runId } = event.data;
    const started = { runId, startedAt: event.at.toISOString() };
    await this.commands.execute(new StartScheduledRun(started, causedBy(event, `system:${this.name}`)));
  }

  private async over(event: Recorded<RunOver>): Promise<void> {
    const { runId } = event.data;
    const cause = causedBy(event, `system:${this.name}`);
    const { ending, report } = outcomeOf(event);
    const scheduleId = await this.commands.execute(new ReportScheduledRun({ runId, report }, cause));
    if (scheduleId !== undefined) await this.commands.execute(new EndScheduleRun(scheduleId, runId, ending, cause));
  }
}
