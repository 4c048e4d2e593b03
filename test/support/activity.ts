import { newId } from '../../src/kernel/ids.js';
import {
  runIdOf,
  type ScheduleEvent,
  scheduleStream,
  type ScheduleTiming,
} from '../../src/triggers/schedules/schedule/schedule.events.js';
import { nextSlot } from '../../src/triggers/schedules/schedule/slots.policy.js';
import { append } from './accounts.js';
import type { Client } from './client.js';
import { eventually } from './eventually.js';
import type { World } from './world.js';

export type Fields = Record<string, unknown>;
export type Planned = Readonly<{ events: Fields[]; monitors: Fields[]; truncated: string[] }>;
export type History = Readonly<{ runs: Fields[]; has_more: boolean }>;
type Now = Readonly<{
  running: Fields[];
  needs_attention: Readonly<{ approvals: Fields[]; paused_schedules: Fields[] }>;
  up_next: Fields[];
  counts: Fields;
  conversations: Fields[];
}>;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

export const iso = (ms: number): string => new Date(ms).toISOString();
export const every = (cron: string, timezone = 'UTC'): ScheduleTiming => ({ kind: 'recurring', cron, timezone, endAt: null });
export const YEARLY = every('0 0 31 12 *');

export const query = (fields: Fields): string =>
  new URLSearchParams(Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])).toString();
export const planned = (client: Client, fields: Fields = {}) => client.json<Planned>(`/api/activity/planned?${query(fields)}`);
export const history = (client: Client, fields: Fields = {}) => client.json<History>(`/api/activity/history?${query(fields)}`);
export const now = (client: Client) => client.json<Now>('/api/activity/now');

/**
 * Polls the calendar until it has `much` events. Its parts are read concurrently, so the first read may mix old and new parts.
 */
export async function shown(client: Client, fields: Fields, much: number): Promise<Planned> {
  await eventually(async () => (await planned(client, fields)).events.length >= much);
  return planned(client, fields);
}

/** The events of a slot with a run and the run's end. The next slot is 300 days away. */
export function ran(scheduleId: string, slot: number, status?: 'success' | 'failed' | 'timeout'): ScheduleEvent[] {
  const runId = runIdOf(scheduleId, iso(slot));
  const errorType = status === 'failed' ? 'agent_error' : status === 'timeout' ? 'timeout' : null;
  const decided = { scheduleId, slot: iso(slot), nextSlotAt: iso(Date.now() + 300 * DAY_MS) };
  const queued: ScheduleEvent = { type: 'ScheduleRunQueued', data: { ...decided, runId, queuedAt: iso(slot) } };
  const end = { scheduleId, runId, errorType, failuresInARow: 0, endedAt: iso(slot + 1000) } as const;
  return [queued, ...(status ? [{ type: 'ScheduleRunEnded', data: { ...end, status } } as const] : [])];
}

export const given = ({ backing }: World, scheduleId: string, ...events: ScheduleEvent[]) =>
  append(backing.store, scheduleStream(scheduleId), ...events);

const agents = new WeakMap<World, Promise<Readonly<{ id: string }>>>();
/** The id of the agent that all schedules here run. */
export async function scheduledAgentOf(world: World): Promise<string> {
  const agent = agents.get(world) ?? world.agent();
  agents.set(world, agent);
  return (await agent).id;
}

/** A user's schedule whose slots no process has decided since it was created. */
export async function scheduleOf(
  world: World,
  subject: string,
  timing: ScheduleTiming,
  createdAt: number,
  name: string | null = 'Report',
): Promise<string> {
  const [scheduleId, ownerId] = [newId(), await world.idOf(subject)];
  const definition = { name, instruction: ' Sum up.\nAll of it.', timing, toolAllowlist: [], modelId: null, tokenBudget: null };
  const origin = { agentId: await scheduledAgentOf(world), conversationId: null, createdVia: 'ui' } as const;
  const nextSlotAt = nextSlot(timing, new Date(createdAt))?.toISOString() ?? null;
  const data = { scheduleId, ownerId, origin, definition, createdAt: iso(createdAt), nextSlotAt };
  await given(world, scheduleId, { type: 'ScheduleCreated', data });
  return scheduleId;
}

let people = 0;
/** A new user without any data. */
export async function somebody(world: World): Promise<Readonly<{ name: string; client: Client }>> {
  const name = `somebody-${people++}`;
  return { name, client: await world.as(name) };
}
