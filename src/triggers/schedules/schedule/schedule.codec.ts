import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { ScheduleEvent } from './schedule.events.js';

export const scheduleCodec: Codec<ScheduleEvent> = {
  ScheduleCreated: [],
  ScheduleChanged: [],
  SchedulePaused: [],
  ScheduleAutoPaused: [],
  ScheduleResumed: [],
  ScheduleCompleted: [],
  ScheduleCancelled: [],
  ScheduleDeleted: [],
  ScheduleRunQueued: [],
  ScheduleMissed: [],
  ScheduleSlotPaused: [],
  ScheduleSlotsPaused: [],
  ScheduleSlotSkipped: [],
  ScheduleRunRequested: [],
  ScheduleRunEnded: [],
  ScheduleSnapshotTaken: [],
};
