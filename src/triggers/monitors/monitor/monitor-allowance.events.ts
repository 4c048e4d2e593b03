import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import type { MonitorId } from './monitor.events.js';

/** A user got a place for a monitor. */
export type MonitorAdmitted = Event<'MonitorAdmitted', { ownerId: string; monitorId: MonitorId; admittedAt: string }>;
/** The monitor no longer needs its place: it has ended, or was never created. */
export type MonitorReleased = Event<'MonitorReleased', { ownerId: string; monitorId: MonitorId }>;

export type MonitorAllowanceEvent = MonitorAdmitted | MonitorReleased;

/** The owner's id is hashed, because it may contain characters that are not allowed in stream names. */
export const monitorAllowanceStream = (ownerId: string): string => `monitorAllowance-${deterministicId('user', ownerId)}`;
