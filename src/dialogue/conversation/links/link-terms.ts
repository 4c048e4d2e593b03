import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { ConversationQueries } from '../../../../projections/conversations/conversations.queries.js';
import { PromptQueries } from '../../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { LinkTerms } from '../../../resources/identity/links/asking-links.port.js';
import { presetOf } from '../../../resources/prompts/presets.policy.js';

/** The owner's settings for questions of readers, for conversations without an agent. */
export type WantedTerms = Readonly<{ promptId: string; sourceId: string; chunks: number | undefined }>;

/**
 * Builds the terms of a link. Its readers ask at the owner's expense, so the owner must own everything used; a grant is not
 * enough.
 */
@Injectable()
export class LinkTermsOf {
  constructor(
    private readonly conversations: ConversationQueries,
    private readonly agents: AgentQueries,
    private readonly prompts: PromptQueries,
    private readonly sources: SourceQueries,
  ) {}

  /** @throws Rejection conversation-not-found, not-allowed, invalid-request, prompt-not-found, source-not-found */
  async conversation(conversationId: string, ownerId: string, wanted: WantedTerms): Promise<LinkTerms> {
    const began = await this.conversations.beginningOf(conversationId);
    if (began?.ownerId !== ownerId) throw new Rejection('conversation-not-found', 'Conversation not found');
    const agent = began.agentId ? await this.agents.byId(began.agentId) : undefined;
    if (!agent) return this.ofOwn(ownerId, wanted);
    if (agent.ownerId !== ownerId) throw new Rejection('not-allowed', 'Only the owner of an agent may let readers ask it');
    if (agent.configuration.agentType === 'workflow')
      throw new Rejection('invalid-request', 'Readers of a link cannot ask an agent that runs a workflow');
    return { agentId: agent.id, promptId: '', sourceId: null };
  }

  private async ofOwn(ownerId: string, { promptId, sourceId, chunks }: WantedTerms): Promise<LinkTerms> {
    const isOwn = async (id: string, thing: (id: string) => Promise<Readonly<{ ownerId: string }> | undefined>) =>
      isId(id) && (await thing(id))?.ownerId === ownerId;
    if (promptId !== '' && !presetOf(promptId) && !(await isOwn(promptId, (id) => this.prompts.byId(id))))
      throw new Rejection('prompt-not-found', 'Prompt not found');
    if (sourceId !== '' && !(await isOwn(sourceId, (id) => this.sources.byId(id))))
      throw new Rejection('source-not-found', 'Source not found');
    return { agentId: null, promptId, sourceId: sourceId || null, ...(chunks !== undefined && { chunks }) };
  }
}
