import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Timing } from '../../../kernel/timing.js';
import { StopAnswer } from '../../../dialogue/answering/runner/stop-answer.commands.js';
import type { AgentKeyCaller } from '../../../resources/identity/caller.js';
import { DeleteResponse } from './response.commands.js';
import type { ResponseCreated } from './response.events.js';
import { headOf, Responses } from './responses.js';

/** So long a cancellation waits for the answer to stop; a tool that takes longer is waited for by nobody. */
export const STOPPING_MS_MAX = 5_000;

/** Cancels and deletes responses. */
@Injectable()
export class ResponseEndings {
  constructor(
    private readonly responses: Responses,
    private readonly commands: Commands,
    private readonly timing: Timing,
  ) {}

  /** The response after that: one that is over stays what it is. @throws Rejection response-not-found where its journal is no longer kept */
  async cancel(created: ResponseCreated['data'], caller: AgentKeyCaller): Promise<object> {
    await this.stop(created, caller);
    const stopped = await this.responses.atEnd(headOf(created), caller, this.timing.deadline(STOPPING_MS_MAX));
    return stopped ?? this.responses.asOf(created);
  }

  /** Nobody finds it any more, and if it is still being written it stops. @throws Rejection response-not-found */
  async delete(created: ResponseCreated['data'], caller: AgentKeyCaller): Promise<void> {
    await this.commands.execute(new DeleteResponse(created.responseId, caller.cause));
    await this.stop(created, caller).catch((error: unknown) => {
      // Of what is no longer kept nothing is written any more.
      if (!(error instanceof Rejection && error.code === 'response-not-found')) throw error;
    });
  }

  /** A later run of the turn is another response. */
  private async stop(created: ResponseCreated['data'], caller: AgentKeyCaller): Promise<void> {
    if (await this.responses.isOver(created)) return;
    try {
      await this.commands.execute(new StopAnswer(created.conversationId, created.turnId, caller.cause));
    } catch (error) {
      if (!(error instanceof Rejection && error.code === 'message-not-running')) throw error;
    }
  }
}
