import type { Codec } from '../kernel/codec.js';
import type { ScheduledRunEvent } from './scheduled-run.events.js';

export const scheduleRunCodec: Codec<ScheduledRunEvent> = {
  ScheduledRunQueued: [],
  ScheduledRunStarted: [],
  ScheduledRunReported: [],
  ScheduledRunAppended: [],
  ScheduledRunOutputForgotten: [],
};
