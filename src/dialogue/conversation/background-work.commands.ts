import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { noteWork } from './background-work.decider.js';
import { conversation } from './conversation.decider.js';
import { type BackgroundWorkNoted, conversationStream } from './conversation.events.js';

/** Work beside a conversation stands otherwise than before, so that all it shows of itself is in one stream and in one order. */
export class NoteBackgroundWork extends Command<void> {
  constructor(
    readonly noted: BackgroundWorkNoted['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

/** What was noted before is nothing new, also when the conversation was opened since. */
@CommandHandler(NoteBackgroundWork)
export class NoteBackgroundWorkHandler implements Handler<NoteBackgroundWork> {
  constructor(private readonly streams: Streams) {}

  async execute({ noted, cause }: NoteBackgroundWork): Promise<void> {
    await this.streams.transact(conversationStream(noted.conversationId), conversation, noteWork(noted), cause);
  }
}
