import { purgeOf } from '../../../kernel/event-sourcing/purge.js';
import { scheduleRunCodec } from './scheduled-run.codec.js';
import type { ScheduledRunOutputPurged } from './scheduled-run.events.js';

export const scheduledRunPurges = [
  purgeOf<ScheduledRunOutputPurged>({ category: 'scheduleRun', codec: scheduleRunCodec, type: 'ScheduledRunOutputPurged' }),
];
