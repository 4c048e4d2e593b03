import { Injectable } from '@nestjs/common';
import { ExpiringQueries, type OldOutput } from '../../../projections/expiring/expiring.queries.js';
import { Commands } from '../../kernel/commands.js';
import { eachOf } from '../../kernel/each-of.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';
import { conversationCodec } from '../conversation/conversation.codec.js';
import { type ConversationEvent, conversationStream } from '../conversation/conversation.events.js';
import { PurgeConversation } from '../conversation/purge/purge.commands.js';
import { type PurgeableConversation, PurgeableFacts } from '../conversation/purge/purgeable-conversation.policy.js';
import { DropContinuation } from './continuations/continuation.commands.js';
import { Continuations } from './continuations/continuations.js';
import { PurgeResearch } from './research/research.commands.js';
import { FinishWorkflowRun, PurgeWorkflowRun } from './workflow-runs/run/workflow-run.commands.js';
import { workflowRun } from './workflow-runs/run/workflow-run.decider.js';
import { researchIdOf, workflowRunIdOf, workflowRunStream } from './workflow-runs/run/workflow-run.events.js';

/**
 * Purges deleted conversations as soon as all their turns are sealed, so that no producer writes frames any more. Deletes the
 * data that is stored beside a conversation first and the conversation last, because only the conversation refers to that data.
 * After a crash the remaining steps are repeated.
 */
@Injectable()
export class PurgeDeletedConversations implements RetentionRule<OldOutput> {
  readonly name = 'deleted conversations';

  constructor(
    private readonly expiring: ExpiringQueries,
    private readonly streams: Streams,
    private readonly kept: Continuations,
    private readonly commands: Commands,
  ) {}

  due(_now: Date, limit: number, after?: OldOutput): Promise<readonly OldOutput[]> {
    return this.expiring.deletedConversations(limit, after);
  }

  purge(due: readonly OldOutput[], cause: Cause): Promise<void> {
    return eachOf(due, ({ id }) => this.purgeOne(id, cause));
  }

  private async purgeOne(conversationId: string, cause: Cause): Promise<void> {
    const purgeable = await this.purgeable(conversationId);
    if (!purgeable) return;
    await eachOf(purgeable.continuations, async ({ turnId, sha256 }) => {
      await this.kept.drop(sha256);
      await this.commands.execute(new DropContinuation(turnId, sha256, cause));
    });
    await eachOf(purgeable.recorded, async (turnId) => {
      await this.commands.execute(new PurgeResearch(turnId, cause));
      const workflowRunId = workflowRunIdOf(turnId);
      const { state } = await this.streams.fold(workflowRunStream(workflowRunId), workflowRun);
      await eachOf(state.steps, ({ step }) => this.commands.execute(new PurgeResearch(researchIdOf(workflowRunId, step), cause)));
      const end = { status: 'stopped', reason: 'conversation_deleted', error: null } as const;
      await this.commands.execute(new FinishWorkflowRun(workflowRunId, end, cause));
      await this.commands.execute(new PurgeWorkflowRun(workflowRunId, cause));
    });
    await this.commands.execute(new PurgeConversation(purgeable, cause));
  }

  /** Reads page by page, because several conversations are purged at a time and each can be long. */
  private async purgeable(conversationId: string): Promise<PurgeableConversation | undefined> {
    const facts = new PurgeableFacts();
    for await (const page of this.streams.store.read(conversationStream(conversationId))) {
      for (const stored of page) {
        const event = decode<ConversationEvent>(conversationCodec, stored);
        if (event) facts.add(event);
      }
    }
    return facts.found();
  }
}
