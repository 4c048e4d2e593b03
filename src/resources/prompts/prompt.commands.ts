import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { newId } from '../../kernel/ids.js';
import { create, prompt, type PromptChange, remove, update } from './prompt.decider.js';
import { promptStream } from './prompt.events.js';

/** Creates a prompt. `imported` is set if an agent's import creates it. The import chooses the id, so a repeat has no effect. */
export class CreatePrompt extends Command<Readonly<{ promptId: string; position: bigint | undefined }>> {
  constructor(
    readonly ownerId: string,
    readonly text: Readonly<{ name: string; content: string }>,
    readonly cause: Cause,
    readonly imported?: Readonly<{ promptId: string; importId: string }>,
  ) {
    super();
  }
}

@CommandHandler(CreatePrompt)
export class CreatePromptHandler implements Handler<CreatePrompt> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ ownerId, text: { name, content }, cause, imported }: CreatePrompt) {
    const { promptId, importId } = imported ?? { promptId: newId(), importId: undefined };
    const decision = create(promptId, ownerId, { name, content, importId, now: this.clock.now() });
    const { position } = await this.streams.transact(promptStream(promptId), prompt, decision, cause);
    return { promptId, position };
  }
}

/** Renames a prompt or changes its text. */
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
export class UpdatePromptHandler implements Handler<UpdatePrompt> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ promptId, ownerId, change, cause }: UpdatePrompt): Promise<bigint | undefined> {
    const decision = update(ownerId, { ...change, now: this.clock.now() });
    return (await this.streams.transact(promptStream(promptId), prompt, decision, cause)).position;
  }
}

/** Deletes a prompt. Agents that still refer to it use the default prompt from then on. */
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
export class DeletePromptHandler implements Handler<DeletePrompt> {
  constructor(private readonly streams: Streams) {}

  async execute({ promptId, ownerId, cause }: DeletePrompt): Promise<bigint | undefined> {
    return (await this.streams.transact(promptStream(promptId), prompt, remove(ownerId), cause)).position;
  }
}
