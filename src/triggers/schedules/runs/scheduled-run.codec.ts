import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { ScheduledRunEvent } from './scheduled-run.events.js';

export const scheduleRunCodec: Codec<ScheduledRunEvent> = {
  ScheduledRunQueued: [],
  ScheduledRunStarted: [],
  ScheduledRunReported: [],
  ScheduledRunAppended: [],
  ScheduledRunOutputPurged: [],
};
