import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { gather, request, complete, type Completion, followUps, type FollowUpsOfConversation } from './follow-ups.decider.js';
import { type FollowUpRequested, type FollowUpsGathered, followUpsStream } from './follow-ups.events.js';

/** Requests a follow-up of a conversation. Idempotent. */
export class RequestFollowUp extends Command<void> {
  constructor(
    readonly followUp: FollowUpRequested['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RequestFollowUp)
export class RequestFollowUpHandler implements Handler<RequestFollowUp> {
  constructor(private readonly streams: Streams) {}

  async execute({ followUp, cause }: RequestFollowUp): Promise<void> {
    await this.streams.transact(followUpsStream(followUp.conversationId), followUps, request(followUp), cause);
  }
}

/**
 * Gathers waiting follow-ups of a conversation for one turn. Resolves to the new state, in which other follow-ups may already
 * have been gathered before.
 */
export class GatherFollowUps extends Command<Folded<FollowUpsOfConversation>> {
  constructor(
    readonly gathered: FollowUpsGathered['data'],
    readonly known: Folded<FollowUpsOfConversation>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(GatherFollowUps)
export class GatherFollowUpsHandler implements Handler<GatherFollowUps> {
  constructor(private readonly streams: Streams) {}

  execute({ gathered, known, cause }: GatherFollowUps): Promise<Folded<FollowUpsOfConversation>> {
    return this.streams.transact(followUpsStream(gathered.conversationId), followUps, gather(gathered), cause, known);
  }
}

/** Records how the follow-ups that were gathered for a turn ended. */
export class CompleteFollowUps extends Command<void> {
  constructor(
    readonly gathered: FollowUpsGathered['data'],
    readonly completion: Completion,
    readonly known: Folded<FollowUpsOfConversation>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CompleteFollowUps)
export class CompleteFollowUpsHandler implements Handler<CompleteFollowUps> {
  constructor(private readonly streams: Streams) {}

  async execute({ gathered: { conversationId, turnId }, completion, known, cause }: CompleteFollowUps): Promise<void> {
    await this.streams.record(followUpsStream(conversationId), followUps, complete(turnId, completion), cause, known);
  }
}
