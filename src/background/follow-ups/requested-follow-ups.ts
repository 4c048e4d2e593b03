import { Injectable } from '@nestjs/common';
import { AutomaticTurns } from '../../dialogue/answering/intake/automatic-turns.port.js';
import { InputChecks } from '../../dialogue/answering/guardrails/input-checks.port.js';
import { WITHHELD } from '../../resources/guardrails/guardrail.policy.js';
import { Commands } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { clipped } from './follow-up-text.policy.js';
import { RequestFollowUp } from './follow-ups.commands.js';
import { followUpIdOf } from './follow-ups.events.js';
import { type FollowUp, FollowUps } from './follow-ups.port.js';

/** Checks the texts of requested follow-ups and appends them to the log. A ticker delivers them. */
@Injectable()
export class RequestedFollowUps extends FollowUps {
  constructor(
    private readonly commands: Commands,
    private readonly inputs: InputChecks,
    private readonly turns: AutomaticTurns,
  ) {
    super();
  }

  async request({ conversationId, ownerId, source, refId, dedupeKey, text }: FollowUp, cause: Cause): Promise<boolean> {
    // A purge of the conversation may already have deleted its follow-ups, and does not run again.
    if (!(await this.turns.isOpen(conversationId))) return false;
    const given = await this.inputs.found(conversationId, text);
    const followUpId = followUpIdOf(conversationId, dedupeKey);
    const requested = {
      conversationId,
      followUpId,
      ownerId,
      source,
      refId,
      dedupeKey,
      text: clipped(given.isBlocked ? WITHHELD : given.value),
    };
    await this.commands.execute(new RequestFollowUp(requested, cause));
    return true;
  }
}
