import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { prompt, type PromptChange, update } from './prompt.decider.js';
import { promptStream } from './prompt.events.js';

/** A prompt's owner renames or rewrites it. */
export class UpdatePrompt extends Command<bigint | undefined> {
  constructor(
    readonly promptId: string,
    readonly ownerId: string,
    readonly change: Omit<PromptChange, 'now'>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(UpdatePrompt)
export class UpdatePromptHandler implements ICommandHandler<UpdatePrompt> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ promptId, ownerId, change, cause }: UpdatePrompt): Promise<bigint | undefined> {
    const decision = update(ownerId, { ...change, now: this.clock.now() });
    return (await this.streams.transact(promptStream(promptId), prompt, decision, cause)).position;
  }
}
