import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { newId } from '../../kernel/ids.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { create, prompt } from './prompt.decider.js';
import { promptStream } from './prompt.events.js';

/** A user keeps a prompt of their own. */
export class CreatePrompt extends Command<Readonly<{ promptId: string; position: bigint | undefined }>> {
  constructor(
    readonly ownerId: string,
    readonly text: Readonly<{ name: string; content: string }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreatePrompt)
export class CreatePromptHandler implements ICommandHandler<CreatePrompt> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ ownerId, text: { name, content }, cause }: CreatePrompt) {
    const promptId = newId();
    const decision = create(promptId, ownerId, { name, content, now: this.clock.now() });
    const { position } = await this.streams.transact(promptStream(promptId), prompt, decision, cause);
    return { promptId, position };
  }
}
