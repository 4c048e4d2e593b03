import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import type { ScheduleId } from '../schedule/schedule.events.js';

/** A user got a place for a schedule. */
export type ScheduleAdmitted = Event<'ScheduleAdmitted', { ownerId: string; scheduleId: ScheduleId; admittedAt: string }>;
/** The schedule no longer needs its place: it has ended, or was never created. */
export type ScheduleReleased = Event<'ScheduleReleased', { ownerId: string; scheduleId: ScheduleId }>;

export type AllowanceEvent = ScheduleAdmitted | ScheduleReleased;

/** The owner's id is hashed, because it may contain characters that are not allowed in stream names. */
export const allowanceStream = (ownerId: string): string => `scheduleAllowance-${deterministicId('user', ownerId)}`;
