import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { monitorAllowanceCodec } from './monitor-allowance.codec.js';
import type { MonitorAllowanceEvent } from './monitor-allowance.events.js';
import type { MonitorId } from './monitor.events.js';

/** Which monitors of a user have a place, and since when. */
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

/** How long a place is kept for a monitor that does not exist yet: it is created within that time, or not at all. */
export const ADMISSION_MS = 120_000;

/** What is known of a user's monitors: which need their places, and which are over. */
export type KnownMonitors = Readonly<{ live: ReadonlySet<MonitorId>; over: ReadonlySet<MonitorId> }>;

type Admission = Readonly<{ ownerId: string; monitorId: MonitorId; now: Date; max: number }>;

/**
 * A place for one more monitor. Places of monitors that are over are free again, and so are places that were given some time ago
 * for a monitor that was never created. @throws Rejection too-many-monitors
 */
export const admit =
  (
    { ownerId, monitorId, now, max }: Admission,
    { live, over }: KnownMonitors,
  ): Decision<MonitorAllowance, MonitorAllowanceEvent> =>
  (state) => {
    if (monitorId in state) return [];
    const places = Object.entries(state);
    const kept = places.filter(
      ([id, since]) => live.has(id) || (!over.has(id) && now.getTime() - Date.parse(since) < ADMISSION_MS),
    );
    if (kept.length >= max) {
      throw new Rejection('too-many-monitors', `you have ${max} monitors already, and may not have more`);
    }
    const free = places.filter((each) => !kept.includes(each));
    return [
      ...free.map(([id]): MonitorAllowanceEvent => ({ type: 'MonitorReleased', data: { ownerId, monitorId: id } })),
      { type: 'MonitorAdmitted', data: { ownerId, monitorId, admittedAt: now.toISOString() } },
    ];
  };

export const release =
  (ownerId: string, monitorId: MonitorId): Decision<MonitorAllowance, MonitorAllowanceEvent> =>
  (state) =>
    monitorId in state ? [{ type: 'MonitorReleased', data: { ownerId, monitorId } }] : [];
