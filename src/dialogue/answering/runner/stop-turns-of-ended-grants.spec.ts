import { expect, it } from '@jest/globals';
import type { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import type { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import type { UnsealedTurnQueries } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { CountedReads } from '../../../../test/support/counted-reads.js';
import { granting } from '../../../../test/support/no-grants.js';
import { turnCommands } from '../../../../test/support/turn-commands.js';
import { askedTurn, cause, eventsOf } from '../../../../test/support/turns.js';
import type { Recorded } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { TeamMemberRemoved } from '../../../resources/identity/teams/team.events.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { SharedUse } from './shared-use.js';
import { StopTurnsOfEndedGrants } from './stop-turns-of-ended-grants.reaction.js';

const removed: Recorded<TeamMemberRemoved> = {
  type: 'TeamMemberRemoved',
  data: { teamId: 't', userId: 'alice' } as TeamMemberRemoved['data'],
  id: 'e1',
  stream: 'team-t',
  revision: 1,
  position: 7n,
  at: new Date(0),
  cause,
};

/** Alice asks an agent of Bob's and one of her own. She may use the agents with the given ids. */
async function world({ held = [], isListed = true }: { held?: readonly string[]; isListed?: boolean } = {}) {
  const store = new CountedReads();
  const streams = new Streams(store, systemTiming);
  await askedTurn(store, 'shared', 't1', { agentId: 'bobs', configurationOwnerId: 'bob' });
  await askedTurn(store, 'own', 't2', { agentId: 'alices', configurationOwnerId: 'alice' });
  const turns = [
    { conversationId: 'shared', turnId: 't1', agentId: 'bobs' },
    { conversationId: 'own', turnId: 't2', agentId: 'alices' },
  ];
  const owners = new Map([
    ['shared', 'alice'],
    ['own', 'alice'],
  ]);
  const agents = [
    { id: 'bobs', ownerId: 'bob' },
    { id: 'alices', ownerId: 'alice' },
  ];
  const reaching = granting(new Set(held));
  const reaction = new StopTurnsOfEndedGrants(
    { ofSharedAgents: async () => turns } as unknown as UnsealedTurnQueries,
    { ownersOf: async () => (isListed ? owners : new Map()) } as unknown as ConversationQueries,
    { among: async () => (isListed ? agents : []) } as unknown as AgentQueries,
    reaching,
    new SharedUse(reaching),
    streams,
    turnCommands(streams),
    { reached: async () => true },
  );
  store.reads = 0;
  await reaction.on.TeamMemberRemoved(removed);
  const { reads } = store;
  const isStopped = async (id: string) =>
    (await eventsOf(store, conversationStream(id))).some(({ type }) => type === 'TurnStopRequested');
  return { reads, stopped: [await isStopped('shared'), await isStopped('own')] };
}

it('stops the turns of users who may not use an agent any more, and no others', async () => {
  expect((await world()).stopped).toEqual([true, false]);
});

it('reads no conversation whose user may use the agent', async () => {
  expect(await world({ held: ['bobs'] })).toEqual({ reads: 0, stopped: [false, false] });
});

it('reads the questions if the read models have neither the conversation nor the agent', async () => {
  expect((await world({ isListed: false })).stopped).toEqual([true, false]);
});
