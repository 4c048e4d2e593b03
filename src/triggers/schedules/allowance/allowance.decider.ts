import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { scheduleAllowanceCodec } from './allowance.codec.js';
import type { AllowanceEvent } from './allowance.events.js';
import type { ScheduleId } from '../schedule/schedule.events.js';

/** Which schedules of a user have a place, and since when. */
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

/** How long a place is kept for a schedule that does not exist yet. */
export const ADMISSION_MS = 60_000;

type Admission = Readonly<{ ownerId: string; scheduleId: ScheduleId; now: Date; max: number }>;

/**
 * A place for one more schedule. `open` are those that are known to need theirs; places of others, unless they were given a
 * moment ago, are free again. @throws Rejection too-many-schedules
 */
export const admit =
  ({ ownerId, scheduleId, now, max }: Admission, open: ReadonlySet<ScheduleId>): Decision<Allowance, AllowanceEvent> =>
  (state) => {
    if (scheduleId in state) return [];
    const places = Object.entries(state);
    const kept = places.filter(([id, since]) => open.has(id) || now.getTime() - Date.parse(since) < ADMISSION_MS);
    if (kept.length >= max) throw new Rejection('too-many-schedules', 'max schedules per user reached');
    const free = places.filter((each) => !kept.includes(each));
    return [
      ...free.map(([id]): AllowanceEvent => ({ type: 'ScheduleReleased', data: { ownerId, scheduleId: id } })),
      { type: 'ScheduleAdmitted', data: { ownerId, scheduleId, admittedAt: now.toISOString() } },
    ];
  };

export const release =
  (ownerId: string, scheduleId: ScheduleId): Decision<Allowance, AllowanceEvent> =>
  (state) =>
    scheduleId in state ? [{ type: 'ScheduleReleased', data: { ownerId, scheduleId } }] : [];
