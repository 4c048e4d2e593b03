import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { monitorAllowanceCodec } from './monitor-allowance.codec.js';
import type { MonitorAllowanceEvent } from './monitor-allowance.events.js';
import type { MonitorId } from './monitor.events.js';

/** The monitors of a user that have a place, each with the time at which it got the place. */
export type MonitorAllowance = Readonly<Record<MonitorId, string>>;

export const monitorAllowance: Aggregate<MonitorAllowance, MonitorAllowanceEvent> = {
  initial: {},
  evolve,
  codec: monitorAllowanceCodec,
};

function evolve(state: MonitorAllowance, { type, data }: MonitorAllowanceEvent): MonitorAllowance {
  switch (type) {
    case 'MonitorAdmitted':
      return { ...state, [data.monitorId]: data.admittedAt };
    case 'MonitorReleased':
      return Object.fromEntries(Object.entries(state).filter(([monitorId]) => monitorId !== data.monitorId));
  }
}

/** How long a place is reserved for a monitor that does not exist yet. A monitor is created within this time or not at all. */
export const ADMISSION_MS = 120_000;

/** The monitors of a user in the read model: those that need their places, and those that have ended. */
export type KnownMonitors = Readonly<{ live: ReadonlySet<MonitorId>; over: ReadonlySet<MonitorId> }>;

type Admission = Readonly<{ ownerId: string; monitorId: MonitorId; now: Date; max: number }>;

const admitted = ({ ownerId, monitorId, now }: Admission): MonitorAllowanceEvent => ({
  type: 'MonitorAdmitted',
  data: { ownerId, monitorId, admittedAt: now.toISOString() },
});

/** Reserves a place for one more monitor if one was never taken, and else nothing. */
export const admitToUnusedPlace =
  (admission: Admission): Decision<MonitorAllowance, MonitorAllowanceEvent> =>
  (state) =>
    admission.monitorId in state || Object.keys(state).length >= admission.max ? [] : [admitted(admission)];

/**
 * Reserves a place for one more monitor. Releases the places of monitors that have ended, and places older than ADMISSION_MS
 * whose monitors were never created. @throws Rejection too-many-monitors
 */
export const admit =
  (admission: Admission, { live, over }: KnownMonitors): Decision<MonitorAllowance, MonitorAllowanceEvent> =>
  (state) => {
    const { ownerId, monitorId, now, max } = admission;
    if (monitorId in state) return [];
    const places = Object.entries(state);
    const kept = places.filter(
      ([id, since]) => live.has(id) || (!over.has(id) && now.getTime() - Date.parse(since) < ADMISSION_MS),
    );
    if (kept.length >= max) {
      throw new Rejection('too-many-monitors', `you have ${max} monitors already, which is the maximum`);
    }
    const free = places.filter((each) => !kept.includes(each));
    return [
      ...free.map(([id]): MonitorAllowanceEvent => ({ type: 'MonitorReleased', data: { ownerId, monitorId: id } })),
      admitted(admission),
    ];
  };

export const release =
  (ownerId: string, monitorId: MonitorId): Decision<MonitorAllowance, MonitorAllowanceEvent> =>
  (state) =>
    monitorId in state ? [{ type: 'MonitorReleased', data: { ownerId, monitorId } }] : [];
