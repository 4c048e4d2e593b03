import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { prompt, remove } from './prompt.decider.js';
import { promptStream } from './prompt.events.js';

/** A prompt's owner throws it away. Agents that still refer to it use the default from then on. */
export class DeletePrompt extends Command<bigint | undefined> {
  constructor(
    readonly promptId: string,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeletePrompt)
export class DeletePromptHandler implements ICommandHandler<DeletePrompt> {
  constructor(private readonly streams: Streams) {}

  async execute({ promptId, ownerId, cause }: DeletePrompt): Promise<bigint | undefined> {
    return (await this.streams.transact(promptStream(promptId), prompt, remove(ownerId), cause)).position;
  }
}
