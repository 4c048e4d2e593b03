import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { conversationCodec } from '../../conversation/conversation.codec.js';
import { conversation } from '../../conversation/conversation.decider.js';
import {
  type ConversationDeleted,
  conversationStream,
  type ToolCallDenied,
  type TurnFailed,
  type TurnStopped,
} from '../../conversation/conversation.events.js';
import { FinishWorkflowRun } from './run/workflow-run.commands.js';
import { workflowRunIdOf } from './run/workflow-run.events.js';

type Followed = TurnFailed | TurnStopped | ToolCallDenied | ConversationDeleted;
type End = FinishWorkflowRun['end'];

/**
 * Ends a workflow run when its turn fails, is stopped, or ends without a decision on its calls, and when its conversation is
 * deleted. After a crash the step for the turn is repeated; a run that has already ended does not change. Most turns have no run.
 */
@Injectable()
export class EndWorkflowRuns implements Reaction<Followed> {
  readonly name = 'end-workflow-runs';
  readonly categories = ['conversation'];
  readonly codec: Codec<Followed> = conversationCodec;
  readonly on = {
    TurnFailed: (event: Recorded<TurnFailed>) =>
      this.end(event, event.data.turnId, { status: 'failed', reason: 'interrupted', error: event.data.error }),
    TurnStopped: (event: Recorded<TurnStopped>) =>
      this.end(event, event.data.turnId, { status: 'stopped', reason: 'stopped', error: null }),
    ToolCallDenied: (event: Recorded<ToolCallDenied>) => this.endUndecided(event),
    ConversationDeleted: (event: Recorded<ConversationDeleted>) => this.endAll(event),
  };

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
  ) {}

  /** Ends the run if nobody decided on its calls. If a user denies a call, the run continues without it. */
  private async endUndecided(event: Recorded<ToolCallDenied>): Promise<void> {
    const { turnId, notRun } = event.data;
    if (notRun === 'expired' || notRun === 'moved_on')
      await this.end(event, turnId, { status: 'failed', reason: notRun, error: null });
  }

  private async endAll(event: Recorded<ConversationDeleted>): Promise<void> {
    const { state } = await this.streams.fold(conversationStream(event.data.conversationId), conversation);
    const deleted: End = { status: 'stopped', reason: 'conversation_deleted', error: null };
    for (const [turnId] of [...state.turns].filter(([, { goesOn }]) => goesOn)) await this.end(event, turnId, deleted);
  }

  private end(event: Recorded<Followed>, turnId: string, end: End): Promise<void> {
    return this.commands.execute(new FinishWorkflowRun(workflowRunIdOf(turnId), end, causedBy(event, `system:${this.name}`)));
  }
}
