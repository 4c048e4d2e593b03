import { Injectable } from '@nestjs/common';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { Runs } from '../../../background/runs/runs.port.js';
import { scheduleRunCodec } from './scheduled-run.codec.js';
import type { ScheduledRunOutputForgotten } from './scheduled-run.events.js';

/**
 * A run whose output is forgotten is forgotten itself: it said the same. One step; a crash before the checkpoint repeats it,
 * and a run is forgotten once.
 */
@Injectable()
export class ForgetScheduledRuns implements Reaction<ScheduledRunOutputForgotten> {
  readonly name = 'forget-scheduled-runs';
  readonly categories = ['scheduleRun'];
  readonly codec: Codec<ScheduledRunOutputForgotten> = scheduleRunCodec;
  readonly on = {
    ScheduledRunOutputForgotten: (event: Recorded<ScheduledRunOutputForgotten>) =>
      this.runs.forget(event.data.runId, null, causedBy(event, `system:${this.name}`)),
  };

  constructor(private readonly runs: Runs) {}
}
