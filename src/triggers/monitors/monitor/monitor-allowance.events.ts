import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import type { MonitorId } from './monitor.events.js';

/** A user has a place for a monitor. */
export type MonitorAdmitted = Event<'MonitorAdmitted', { ownerId: string; monitorId: MonitorId; admittedAt: string }>;
/** The monitor needs its place no longer: it is over, or never came to be. */
export type MonitorReleased = Event<'MonitorReleased', { ownerId: string; monitorId: MonitorId }>;

export type MonitorAllowanceEvent = MonitorAdmitted | MonitorReleased;

/** A user may have any text for an id, a stream may not have any text for a name. */
export const monitorAllowanceStream = (ownerId: string): string => `monitorAllowance-${deterministicId('user', ownerId)}`;
