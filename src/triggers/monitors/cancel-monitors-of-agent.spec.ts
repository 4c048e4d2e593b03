import { expect, it } from '@jest/globals';
import type { AgentQueries } from '../../../projections/agents/agents.queries.js';
import type { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { reachedReadModels, received } from '../../../test/support/deletion-reactions.js';
import type { Commands } from '../../kernel/commands.js';
import type { AgentDeleted } from '../../resources/agents/agent.events.js';
import { CancelMonitorsOfAgent } from './cancel-monitors-of-agent.reaction.js';
import type { CancelMonitorWith } from './monitor/monitor.commands.js';
import type { MonitorCreated } from './monitor/monitor.events.js';

const made = (monitorId: string, agentId: string | null) =>
  received<MonitorCreated>({ monitorId, agentId } as MonitorCreated['data']);

/** Of the agents a1 and a2, only a2 exists. */
function reaction() {
  const cancelled: string[] = [];
  const { awaited, freshness } = reachedReadModels();
  const commands = {
    execute: async ({ parent, monitorId }: CancelMonitorWith) => void cancelled.push(`${monitorId} with its ${parent}`),
  };
  const monitors = { liveOfAgent: async (id: string) => (id === 'a1' ? ['m1', 'm2'] : []) };
  const agents = { byId: async (id: string) => (id === 'a2' ? { id } : undefined) };
  const { on } = new CancelMonitorsOfAgent(
    commands as unknown as Commands,
    monitors as unknown as MonitorQueries,
    agents as unknown as AgentQueries,
    freshness,
  );
  return { on, cancelled, awaited };
}

it('the monitors of an agent are cancelled when it is deleted', async () => {
  const { on, cancelled, awaited } = reaction();
  await on.AgentDeleted(received<AgentDeleted>({ agentId: 'a1' }));
  expect([cancelled, awaited]).toEqual([['m1 with its agent', 'm2 with its agent'], ['monitors 7']]);
});

it('a monitor that is created while its agent is being deleted is cancelled', async () => {
  const { on, cancelled, awaited } = reaction();
  await on.MonitorCreated(made('m3', 'a1'));
  expect([cancelled, awaited]).toEqual([['m3 with its agent'], ['agents 7']]);
});

it.each([
  ['with an existing agent', 'a2'],
  ['without an agent', null],
])('a monitor %s is kept', async (_, agentId) => {
  const { on, cancelled } = reaction();
  await on.MonitorCreated(made('m3', agentId));
  expect(cancelled).toEqual([]);
});
