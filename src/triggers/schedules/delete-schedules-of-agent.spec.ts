import { expect, it } from '@jest/globals';
import { reachedReadModels, received } from '../../../test/support/deletion-reactions.js';
import type { AgentQueries } from '../../../projections/agents/agents.queries.js';
import type { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import type { Commands } from '../../kernel/commands.js';
import { Rejection } from '../../kernel/rejection.js';
import type { AgentDeleted } from '../../resources/agents/agent.events.js';
import { DeleteSchedulesOfAgent } from './delete-schedules-of-agent.reaction.js';
import type { DeleteSchedule } from './schedule/schedule.commands.js';
import type { ScheduleCreated } from './schedule/schedule.events.js';

const made = (scheduleId: string, agentId: string | null) =>
  received<ScheduleCreated>({
    scheduleId,
    ownerId: 'ann',
    origin: { agentId, conversationId: null, createdVia: 'ui' },
  } as ScheduleCreated['data']);

/** Of the agents a1 and a2, only a2 exists. Of the schedules of a1, the first is already deleted. */
function reaction() {
  const deleted: string[] = [];
  const { awaited, freshness } = reachedReadModels();
  const commands = {
    execute: async ({ scheduleId, ownerId }: DeleteSchedule) => {
      if (scheduleId === 's1') throw new Rejection('schedule-not-found', 'schedule not found');
      deleted.push(`${scheduleId} of ${ownerId}`);
    },
  };
  const schedules = {
    ofAgent: async (id: string) => (id === 'a1' ? ['s1', 's2'].map((each) => ({ id: each, ownerId: 'bob' })) : []),
  };
  const agents = { byId: async (id: string) => (id === 'a2' ? { id } : undefined) };
  const { on } = new DeleteSchedulesOfAgent(
    commands as unknown as Commands,
    schedules as unknown as ScheduleQueries,
    agents as unknown as AgentQueries,
    freshness,
  );
  return { on, deleted, awaited };
}

it('the schedules of a deleted agent are deleted, even if one is already deleted', async () => {
  const { on, deleted, awaited } = reaction();
  await on.AgentDeleted(received<AgentDeleted>({ agentId: 'a1' }));
  expect([deleted, awaited]).toEqual([['s2 of bob'], ['schedules 7']]);
});

it('a schedule that is created while its agent is being deleted is deleted', async () => {
  const { on, deleted, awaited } = reaction();
  await on.ScheduleCreated(made('s3', 'a1'));
  expect([deleted, awaited]).toEqual([['s3 of ann'], ['agents 7']]);
});

it.each([
  ['with an existing agent', 'a2'],
  ['without an agent', null],
])('a schedule %s is kept', async (_, agentId) => {
  const { on, deleted } = reaction();
  await on.ScheduleCreated(made('s3', agentId));
  expect(deleted).toEqual([]);
});
