import { randomUUID } from 'node:crypto';
import type { Decision } from '../../src/kernel/event-sourcing/decider.js';
import type { Cause } from '../../src/kernel/event-sourcing/events.js';
import { nothingYet, type Streams } from '../../src/kernel/event-sourcing/streams.js';
import { create, type Schedule, schedule } from '../../src/triggers/schedules/schedule/schedule.decider.js';
import { type ScheduleEvent, scheduleStream } from '../../src/triggers/schedules/schedule/schedule.events.js';

/** The number of concurrent appends, as in the service. */
export const WRITERS = 64;

export const cause: Cause = { actor: 'user:local', credential: 'none', correlationId: 'bench', causationId: 'bench' };

type Made = Readonly<{ ownerId: string; agentId: string; cron: string; timezone: string }>;

/** The decision that creates a schedule, whose agent answers at once. */
export function scheduleNow(scheduleId: string, { ownerId, agentId, cron, timezone }: Made): Decision<Schedule, ScheduleEvent> {
  const timing = { kind: 'recurring', cron, timezone, endAt: null } as const;
  const instruction = 'paced 1 tokens 0 ms';
  const definition = { name: null, instruction, timing, toolAllowlist: [], modelId: null, tokenBudget: null };
  const origin = { agentId, conversationId: null, createdVia: 'ui' } as const;
  return create(scheduleId, { ownerId, origin, definition, now: new Date() });
}

/** A schedule with a new id, created like its owner would. */
export async function make(streams: Streams, made: Made): Promise<void> {
  const id = randomUUID();
  await streams.transact(scheduleStream(id), schedule, scheduleNow(id, made), cause, nothingYet(schedule));
}

/** Runs work concurrently by this many writers. Each call gets its number. */
export async function sideBySide(count: number, work: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: WRITERS }, worker));
}

/** A published agent of the user with these headers. */
export async function agentOf(service: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const agent = { name: 'Watch', description: 'Watches', chunks: 4, retriever: 'classic', prompt_id: 'default' };
  const response = await fetch(`${service}/api/create_agent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...agent, status: 'published' }),
  });
  if (!response.ok) throw new Error(`No agent: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}
