import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import type { ScheduleId } from '../schedule/schedule.events.js';

/** A user has a place for a schedule. */
export type ScheduleAdmitted = Event<'ScheduleAdmitted', { ownerId: string; scheduleId: ScheduleId; admittedAt: string }>;
/** The schedule needs its place no longer: it is over, or never came to be. */
export type ScheduleReleased = Event<'ScheduleReleased', { ownerId: string; scheduleId: ScheduleId }>;

export type AllowanceEvent = ScheduleAdmitted | ScheduleReleased;

/** A user may have any text for an id, a stream may not have any text for a name. */
export const allowanceStream = (ownerId: string): string => `scheduleAllowance-${deterministicId('user', ownerId)}`;
