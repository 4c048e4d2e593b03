import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { remove, tool } from './tool.decider.js';
import { type ToolId, toolStream } from './tool.events.js';
import { ToolSetup } from './tool-setup.js';

/** A tool's owner throws it away, with its secrets. Agents that still refer to it do without from then on. */
export class DeleteTool extends Command<bigint | undefined> {
  constructor(
    readonly toolId: ToolId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteTool)
export class DeleteToolHandler implements ICommandHandler<DeleteTool> {
  constructor(
    private readonly streams: Streams,
    private readonly setup: ToolSetup,
  ) {}

  async execute({ toolId, ownerId, cause }: DeleteTool): Promise<bigint | undefined> {
    const { state, position } = await this.streams.transact(toolStream(toolId), tool, remove(ownerId), cause);
    // A crash before this leaves sealed secrets that nobody refers to.
    if (state.definition) await this.setup.forget(ownerId, state.definition);
    return position;
  }
}
