import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { type TurnOfAgent, UnsealedTurnQueries } from '../../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { type Cause, causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { agentCodec } from '../../../resources/agents/agent.codec.js';
import type { AgentLinkEnded } from '../../../resources/agents/agent.events.js';
import { keptAgentsCodec } from '../../../resources/agents/links/kept-agents.codec.js';
import type { KeptAgentRemoved } from '../../../resources/agents/links/kept-agents.events.js';
import { teamCodec } from '../../../resources/identity/teams/team.codec.js';
import { Reaching } from '../../../resources/identity/reaching.js';
import type { TeamGrantEnded, TeamMemberRemoved } from '../../../resources/identity/teams/team.events.js';
import { readTranscript } from '../loop/transcript.js';
import { SharedUse } from './shared-use.js';
import { StopAnswer } from './stop-answer.commands.js';

type Ending = TeamGrantEnded | TeamMemberRemoved | AgentLinkEnded | KeptAgentRemoved;

/**
 * Stops the running turns of users who may not use an agent any more. Steps: (1) wait until the read models contain the event;
 * (2) find the running turns whose users may not use the agent by the read models, and read their questions; (3) append a stop
 * request for each whose user has lost the access. After a crash all steps are repeated; a second stop request has no effect. A
 * question that is accepted at the same moment is caught by its runner, which calls `SharedUse` before it answers.
 */
@Injectable()
export class StopTurnsOfEndedGrants implements Reaction<Ending> {
  readonly name = 'stop-turns-of-ended-grants';
  readonly categories = ['team', 'agent', 'keptAgents'];
  readonly codec = {
    TeamGrantEnded: teamCodec.TeamGrantEnded,
    TeamMemberRemoved: teamCodec.TeamMemberRemoved,
    AgentLinkEnded: agentCodec.AgentLinkEnded,
    KeptAgentRemoved: keptAgentsCodec.KeptAgentRemoved,
  };
  readonly on = {
    TeamGrantEnded: async (event: Recorded<TeamGrantEnded>) => {
      if (event.data.family === 'agents') await this.stop(event, event.data.resourceId);
    },
    TeamMemberRemoved: (event: Recorded<TeamMemberRemoved>) => this.stop(event),
    AgentLinkEnded: (event: Recorded<AgentLinkEnded>) => this.stop(event, event.data.agentId),
    KeptAgentRemoved: (event: Recorded<KeptAgentRemoved>) => this.stop(event, event.data.agentId),
  };

  constructor(
    private readonly turns: UnsealedTurnQueries,
    private readonly conversations: ConversationQueries,
    private readonly agents: AgentQueries,
    private readonly reaching: Reaching,
    private readonly sharedUse: SharedUse,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly freshness: Freshness,
  ) {}

  private async stop(event: Recorded<Ending>, agentId?: string): Promise<void> {
    await requireReached(this.freshness, ['teams', 'agents', 'unsealed-turns'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    for (const { conversationId, turnId } of await this.withoutKnownAccess(await this.turns.ofSharedAgents(agentId)))
      if (await this.isClosed(conversationId, turnId)) await this.request(conversationId, turnId, cause);
  }

  /** Leaves out the turns whose users may use the agent, which are nearly all. */
  private async withoutKnownAccess(turns: readonly TurnOfAgent[]): Promise<readonly TurnOfAgent[]> {
    const agentIds = [...new Set(turns.map(({ agentId }) => agentId))];
    const users = await this.conversations.ownersOf(turns.map(({ conversationId }) => conversationId));
    const owners = new Map((await this.agents.among(agentIds)).map(({ id, ownerId }) => [id, ownerId]));
    const usable = new Map<string, ReadonlySet<string>>();
    for (const user of new Set(users.values())) usable.set(user, await this.reaching.usable(user, 'agents', agentIds));
    return turns.filter(({ conversationId, agentId }) => {
      const user = users.get(conversationId);
      return user === undefined || (owners.get(agentId) !== user && !usable.get(user)!.has(agentId));
    });
  }

  private async isClosed(conversationId: string, turnId: string): Promise<boolean> {
    const transcript = await readTranscript(this.streams, conversationId, turnId);
    return transcript !== undefined && this.sharedUse.hasEnded(transcript.ownerId, transcript.asked.settings);
  }

  private async request(conversationId: string, turnId: string, cause: Cause): Promise<void> {
    try {
      await this.commands.execute(new StopAnswer(conversationId, turnId, cause, 'access-ended'));
    } catch (error) {
      // The turn has ended, or it is paused and its access is checked again when a client resumes it.
      if (!(error instanceof Rejection)) throw error;
    }
  }
}
