import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Signals } from '../../kernel/messaging/signals.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import type { Caller } from '../../resources/identity/caller.js';
import { ConversationGuard } from './conversation-guard.js';
import { belongsTo } from './conversation-access.policy.js';
import { as, asOwner, conversation, entitle, open, rate, remove, rename, watch } from './conversation.decider.js';
import { isOver } from './turn.decider.js';
import { conversationStream, type TurnId } from './conversation.events.js';
import { EarlierTurns } from './earlier-turns.port.js';
import { type Conversation, stopSubject } from './turn.policy.js';

/** The owner opens the conversation, which clears marks. */
export class OpenConversation extends Command<{ position: bigint | undefined; cleared: boolean }> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(OpenConversation)
export class OpenConversationHandler implements Handler<OpenConversation> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, ownerId, cause }: OpenConversation) {
    const stream = conversationStream(conversationId);
    const decide = asOwner(ownerId, open);
    const read = await this.streams.foldOnwards(stream, conversation);
    // Usually there is nothing to clear, so the reader does not wait in the append queue.
    if (decide(read.state).length === 0) return { position: read.position, cleared: false };
    const { events, position } = await this.streams.transact(stream, conversation, decide, cause, read);
    return { position, cleared: events.length > 0 };
  }
}

/** The owner has read an answer to its end. */
export class WatchConversation extends Command<bigint | undefined> {
  constructor(
    readonly conversationId: string,
    /** The turn that was read. */
    readonly turnId: TurnId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(WatchConversation)
export class WatchConversationHandler implements Handler<WatchConversation> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, turnId, ownerId, cause }: WatchConversation): Promise<bigint | undefined> {
    const stream = conversationStream(conversationId);
    const hasEnded = (state: Conversation) => state.turns.has(turnId) && isOver(state, state.turns.get(turnId)!);
    // This reader has not seen events after the end of the turn.
    const known = await this.streams.foldSuch(stream, conversation, ({ state }) => hasEnded(state));
    const decide = asOwner(ownerId, watch);
    // Returns without an append, which would wait for the append of the turn's seal.
    if (decide(known.state).length === 0) return known.position;
    return (await this.streams.transact(stream, conversation, decide, cause, known)).position;
  }
}

export class RenameConversation extends Command<bigint | undefined> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly name: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RenameConversation)
export class RenameConversationHandler implements Handler<RenameConversation> {
  constructor(
    private readonly streams: Streams,
    private readonly guard: ConversationGuard,
  ) {}

  /** @throws Rejection conversation-not-found, guardrail-blocked */
  async execute({ conversationId, ownerId, name, cause }: RenameConversation): Promise<bigint | undefined> {
    const stream = conversationStream(conversationId);
    const known = await this.streams.fold(stream, conversation);
    asOwner(ownerId, rename(name))(known.state);
    const decide = asOwner(ownerId, rename(await this.guard.name(conversationId, name)));
    return (await this.streams.transact(stream, conversation, decide, cause, known)).position;
  }
}

/** Sets a generated title. Only the first one counts, and none after a name by the owner. */
export class EntitleConversation extends Command {
  constructor(
    readonly conversationId: string,
    readonly title: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(EntitleConversation)
export class EntitleConversationHandler implements Handler<EntitleConversation> {
  constructor(private readonly streams: Streams) {}

  async execute({ conversationId, title, cause }: EntitleConversation): Promise<void> {
    await this.streams.transact(conversationStream(conversationId), conversation, entitle(title), cause);
  }
}

/** Deletes the conversation for its owner: it can no longer be read, and its running turns stop. */
export class DeleteConversation extends Command<bigint | undefined> {
  constructor(
    readonly conversationId: string,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteConversation)
export class DeleteConversationHandler implements Handler<DeleteConversation> {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
  ) {}

  /** Signals running turns to stop. If a signal is lost, the producer sees the deletion when it polls the log. */
  async execute({ conversationId, ownerId, cause }: DeleteConversation): Promise<bigint | undefined> {
    const decide = asOwner(ownerId, remove);
    const deleted = await this.streams.transact(conversationStream(conversationId), conversation, decide, cause);
    for (const [turnId, { status }] of deleted.state.turns)
      if (status === 'running') this.signals.publish(stopSubject(turnId), '');
    return deleted.position;
  }
}

/** Rates an answer; null removes the rating. */
export class RateAnswer extends Command<bigint | undefined> {
  constructor(
    readonly conversationId: string,
    readonly caller: Caller,
    readonly index: number,
    readonly feedback: string | null,
  ) {
    super();
  }
}

@CommandHandler(RateAnswer)
class RateAnswerHandler implements Handler<RateAnswer> {
  constructor(
    private readonly streams: Streams,
    private readonly earlierTurns: EarlierTurns,
  ) {}

  async execute({ conversationId, caller, index, feedback }: RateAnswer): Promise<bigint | undefined> {
    const stream = conversationStream(conversationId);
    return this.streams.race(stream, async () => {
      const known = await this.streams.fold(stream, conversation);
      const earlier = belongsTo(known.state, caller) ? await this.earlierTurns.at(known, index) : undefined;
      const events = as(caller, rate(index, feedback, earlier))(known.state);
      if (events.length === 0) return known.position;
      return (await this.streams.append(stream, known.revision, conversation.codec, events, caller.cause)).position;
    });
  }
}

export const conversationHandlers = [
  DeleteConversationHandler,
  EntitleConversationHandler,
  OpenConversationHandler,
  RateAnswerHandler,
  RenameConversationHandler,
  WatchConversationHandler,
];
