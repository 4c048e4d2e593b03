import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { change, definitionFor, tool } from './tool.decider.js';
import { type ToolId, toolStream } from './tool.events.js';
import { ToolSetup, type ToolWish } from './tool-setup.js';

/** A tool's owner changes it, puts it away or takes it out again. */
export class ChangeTool extends Command<bigint | undefined> {
  constructor(
    readonly toolId: ToolId,
    readonly ownerId: string,
    readonly wish: ToolWish,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeTool)
export class ChangeToolHandler implements ICommandHandler<ChangeTool> {
  constructor(
    private readonly streams: Streams,
    private readonly setup: ToolSetup,
  ) {}

  async execute({ toolId, ownerId, wish, cause }: ChangeTool): Promise<bigint | undefined> {
    const known = await this.streams.fold(toolStream(toolId), tool);
    const seen = definitionFor(known.state, ownerId);
    return this.setup.define(ownerId, seen, wish, async (definition) => {
      const { name: _, ...changes } = definition;
      return (await this.streams.transact(toolStream(toolId), tool, change(ownerId, seen, changes), cause, known)).position;
    });
  }
}
