import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { newId } from '../../../kernel/ids.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { create, tool } from './tool.decider.js';
import { type ToolId, toolStream } from './tool.events.js';
import { ToolSetup, type ToolWish } from './tool-setup.js';

export type ToolMade = Readonly<{ toolId: ToolId; position: bigint | undefined }>;

/** A user sets up a tool of a kind. */
export class CreateTool extends Command<ToolMade> {
  constructor(
    readonly ownerId: string,
    readonly kind: string,
    readonly wish: ToolWish,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateTool)
export class CreateToolHandler implements ICommandHandler<CreateTool> {
  constructor(
    private readonly streams: Streams,
    private readonly setup: ToolSetup,
  ) {}

  async execute({ ownerId, kind, wish, cause }: CreateTool): Promise<ToolMade> {
    const toolId = newId();
    const { position } = await this.setup.define(ownerId, this.setup.blank(kind), { config: {}, ...wish }, (definition) =>
      this.streams.transact(toolStream(toolId), tool, create(toolId, ownerId, definition), cause),
    );
    return { toolId, position };
  }
}
