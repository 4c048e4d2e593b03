import { purgeOf } from '../../../kernel/event-sourcing/purge.js';
import { scheduleRunCodec } from './scheduled-run.codec.js';
import type { ScheduledRunOutputForgotten } from './scheduled-run.events.js';

export const scheduledRunPurges = [
  purgeOf<ScheduledRunOutputForgotten>({ category: 'scheduleRun', codec: scheduleRunCodec, type: 'ScheduledRunOutputForgotten' }),
];
