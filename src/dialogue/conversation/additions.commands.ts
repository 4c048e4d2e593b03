import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import { append, noteWork } from './additions.decider.js';
import { conversation } from './conversation.decider.js';
import { type BackgroundWorkNoted, conversationStream, type TurnAppended } from './conversation.events.js';
import { unlessOmitted } from './earlier-turns.port.js';
import type { Conversation } from './turn.policy.js';

/** Appends a turn that another feature has produced, with a complete journal, to its owner's conversation. */
export class AppendTurn extends Command<Conversation> {
  constructor(
    readonly turn: Omit<TurnAppended['data'], 'index'>,
    readonly ownerId: string,
    readonly cause: Cause,
    readonly known: Folded<Conversation>,
  ) {
    super();
  }
}

@CommandHandler(AppendTurn)
export class AppendTurnHandler implements Handler<AppendTurn> {
  constructor(private readonly streams: Streams) {}

  async execute({ turn, ownerId, cause, known }: AppendTurn): Promise<Conversation> {
    const decide = unlessOmitted(turn.turnId, known.state, append(turn, ownerId));
    return (await this.streams.transact(conversationStream(turn.conversationId), conversation, decide, cause, known)).state;
  }
}

/**
 * Records the status of background work in its conversation, so that one stream has everything that the conversation shows, in
 * order.
 */
export class NoteBackgroundWork extends Command<void> {
  constructor(
    readonly noted: BackgroundWorkNoted['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

/** Ignores a status that was already recorded, even if the conversation was opened since. */
@CommandHandler(NoteBackgroundWork)
export class NoteBackgroundWorkHandler implements Handler<NoteBackgroundWork> {
  constructor(private readonly streams: Streams) {}

  async execute({ noted, cause }: NoteBackgroundWork): Promise<void> {
    await this.streams.transact(conversationStream(noted.conversationId), conversation, noteWork(noted), cause);
  }
}
