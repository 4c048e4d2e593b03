import { Injectable } from '@nestjs/common';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { Runs } from '../../../background/runs/runs.port.js';
import { scheduleRunCodec } from './scheduled-run.codec.js';
import type { ScheduledRunOutputPurged } from './scheduled-run.events.js';

/**
 * Purges a run whose output was purged, because its stream holds the same text. One step; a crash before the checkpoint repeats
 * it, and the run is purged once.
 */
@Injectable()
export class PurgeScheduledRuns implements Reaction<ScheduledRunOutputPurged> {
  readonly name = 'purge-scheduled-runs';
  readonly categories = ['scheduleRun'];
  readonly codec: Codec<ScheduledRunOutputPurged> = scheduleRunCodec;
  readonly on = {
    ScheduledRunOutputPurged: (event: Recorded<ScheduledRunOutputPurged>) =>
      this.runs.purge(event.data.runId, null, causedBy(event, `system:${this.name}`)),
  };

  constructor(private readonly runs: Runs) {}
}
