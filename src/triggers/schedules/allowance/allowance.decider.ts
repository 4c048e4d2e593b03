import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { scheduleAllowanceCodec } from './allowance.codec.js';
import type { AllowanceEvent } from './allowance.events.js';
import type { ScheduleId } from '../schedule/schedule.events.js';

/** The schedules of a user that have a place, each with the time at which it got the place. */
export type Allowance = Readonly<Record<ScheduleId, string>>;

export const allowance: Aggregate<Allowance, AllowanceEvent> = { initial: {}, evolve, codec: scheduleAllowanceCodec };

function evolve(state: Allowance, { type, data }: AllowanceEvent): Allowance {
  switch (type) {
    case 'ScheduleAdmitted':
      return { ...state, [data.scheduleId]: data.admittedAt };
    case 'ScheduleReleased':
      return Object.fromEntries(Object.entries(state).filter(([scheduleId]) => scheduleId !== data.scheduleId));
  }
}

/** How long a place is reserved for a schedule that does not exist yet. */
export const ADMISSION_MS = 60_000;

type Admission = Readonly<{ ownerId: string; scheduleId: ScheduleId; now: Date; max: number }>;

const admitted = ({ ownerId, scheduleId, now }: Admission): AllowanceEvent => ({
  type: 'ScheduleAdmitted',
  data: { ownerId, scheduleId, admittedAt: now.toISOString() },
});

/** Reserves a place for one more schedule if one was never taken, and else nothing. */
export const admitToUnusedPlace =
  (admission: Admission): Decision<Allowance, AllowanceEvent> =>
  (state) =>
    admission.scheduleId in state || Object.keys(state).length >= admission.max ? [] : [admitted(admission)];

/**
 * Reserves a place for one more schedule. `open` are the schedules that are known to exist and need their place. Places of others
 * are released once they are older than ADMISSION_MS. @throws Rejection too-many-schedules
 */
export const admit =
  (admission: Admission, open: ReadonlySet<ScheduleId>): Decision<Allowance, AllowanceEvent> =>
  (state) => {
    const { ownerId, scheduleId, now, max } = admission;
    if (scheduleId in state) return [];
    const places = Object.entries(state);
    const kept = places.filter(([id, since]) => open.has(id) || now.getTime() - Date.parse(since) < ADMISSION_MS);
    if (kept.length >= max) throw new Rejection('too-many-schedules', 'max schedules per user reached');
    const free = places.filter((each) => !kept.includes(each));
    return [
      ...free.map(([id]): AllowanceEvent => ({ type: 'ScheduleReleased', data: { ownerId, scheduleId: id } })),
      admitted(admission),
    ];
  };

export const release =
  (ownerId: string, scheduleId: ScheduleId): Decision<Allowance, AllowanceEvent> =>
  (state) =>
    scheduleId in state ? [{ type: 'ScheduleReleased', data: { ownerId, scheduleId } }] : [];
