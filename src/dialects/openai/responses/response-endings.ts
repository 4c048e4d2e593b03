import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Timing } from '../../../kernel/timing.js';
import { StopAnswer } from '../../../dialogue/answering/runner/stop-answer.commands.js';
import type { AgentKeyCaller } from '../../../resources/identity/caller.js';
import { DeleteResponse } from './response.commands.js';
import type { ResponseCreated } from './response.events.js';
import { headOf, Responses } from './responses.js';

/** The maximum time that a cancellation waits for the answer to stop. It does not wait for a tool that takes longer. */
export const STOPPING_MS_MAX = 5_000;

/** Cancels and deletes responses. */
@Injectable()
export class ResponseEndings {
  constructor(
    private readonly responses: Responses,
    private readonly commands: Commands,
    private readonly timing: Timing,
  ) {}

  /**
   * Stops the response and returns it. A response that has ended is not changed. @throws Rejection response-not-found if its
   * journal is deleted
   */
  async cancel(created: ResponseCreated['data'], caller: AgentKeyCaller): Promise<object> {
    await this.stop(created, caller);
    const stopped = await this.responses.atEnd(headOf(created), caller, this.timing.deadline(STOPPING_MS_MAX));
    return stopped ?? this.responses.asOf(created);
  }

  /**
   * Stops the answer of the response if it is still running, and deletes the response. In this order a repetition completes a
   * request that died in between, because it still finds the response. @throws Rejection response-not-found
   */
  async delete(created: ResponseCreated['data'], caller: AgentKeyCaller): Promise<void> {
    await this.stop(created, caller).catch((error: unknown) => {
      // The journal is deleted, so the answer has ended.
      if (!(error instanceof Rejection && error.code === 'response-not-found')) throw error;
    });
    await this.commands.execute(new DeleteResponse(created.responseId, caller.cause));
  }

  /** Stops the turn, unless the response has ended: a later run of the turn belongs to another response. */
  private async stop(created: ResponseCreated['data'], caller: AgentKeyCaller): Promise<void> {
    if (await this.responses.isOver(created)) return;
    try {
      await this.commands.execute(new StopAnswer(created.conversationId, created.turnId, caller.cause));
    } catch (error) {
      if (!(error instanceof Rejection && error.code === 'message-not-running')) throw error;
    }
  }
}
