import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { nothingYet, Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import { ToolSetup, type ToolWish } from './tool-setup.js';
import { change, create, definitionFor, remove, tool } from './tool.decider.js';
import { type ToolDefinition, type ToolId, toolStream } from './tool.events.js';

export type ToolMade = Readonly<{ toolId: ToolId; position: bigint | undefined }>;

/** A user sets up a tool of a kind. */
export class CreateTool extends Command<ToolMade> {
  constructor(
    readonly ownerId: string,
    readonly kind: string,
    readonly wish: ToolWish,
    readonly cause: Cause,
    /** Callers that create a tool for something else give its id, so that a repetition creates no second tool. */
    readonly toolId: ToolId = newId(),
  ) {
    super();
  }
}

@CommandHandler(CreateTool)
export class CreateToolHandler implements Handler<CreateTool> {
  constructor(
    private readonly streams: Streams,
    private readonly setup: ToolSetup,
  ) {}

  async execute({ ownerId, kind, wish, cause, toolId }: CreateTool): Promise<ToolMade> {
    const { position } = await this.setup.define(ownerId, this.setup.blank(kind), { config: {}, ...wish }, cause, (definition) =>
      this.streams.transact(toolStream(toolId), tool, create(toolId, ownerId, definition), cause),
    );
    return { toolId, position };
  }
}

/**
 * The import of an agent creates a tool. Its definition has been checked, and its secrets are stored encrypted. A repetition does
 * nothing.
 */
export class ImportTool extends Command<bigint | undefined> {
  constructor(
    readonly toolId: ToolId,
    readonly ownerId: string,
    readonly definition: ToolDefinition,
    readonly importId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ImportTool)
class ImportToolHandler implements Handler<ImportTool> {
  constructor(private readonly streams: Streams) {}

  async execute({ toolId, ownerId, definition, importId, cause }: ImportTool): Promise<bigint | undefined> {
    const decision = create(toolId, ownerId, definition, importId);
    return (await this.streams.transact(toolStream(toolId), tool, decision, cause, nothingYet(tool))).position;
  }
}

/** The owner of a tool, or an editor, changes it or switches it on or off. */
export class ChangeTool extends Command<bigint | undefined> {
  constructor(
    readonly toolId: ToolId,
    readonly ownerId: string,
    readonly wish: ToolWish,
    readonly cause: Cause,
    readonly by: 'owner' | 'editor' = 'owner',
  ) {
    super();
  }
}

@CommandHandler(ChangeTool)
export class ChangeToolHandler implements Handler<ChangeTool> {
  constructor(
    private readonly streams: Streams,
    private readonly setup: ToolSetup,
  ) {}

  async execute({ toolId, ownerId, wish, cause, by }: ChangeTool): Promise<bigint | undefined> {
    const known = await this.streams.fold(toolStream(toolId), tool);
    const seen = definitionFor(known.state, ownerId);
    const state = async ({ name: _, ...changes }: ToolDefinition) =>
      (await this.streams.transact(toolStream(toolId), tool, change(ownerId, seen, changes), cause, known)).position;
    return this.setup.define(ownerId, seen, wish, cause, state, by);
  }
}

/** The owner of a tool deletes it with its secrets. Agents that refer to it continue without it. */
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
export class DeleteToolHandler implements Handler<DeleteTool> {
  constructor(
    private readonly streams: Streams,
    private readonly setup: ToolSetup,
  ) {}

  async execute({ toolId, ownerId, cause }: DeleteTool): Promise<bigint | undefined> {
    const { state, position } = await this.streams.transact(toolStream(toolId), tool, remove(ownerId), cause);
    // If the process crashes here, the reaction `purge-secrets` deletes the secrets.
    if (state.definition) await this.setup.delete(ownerId, state.definition);
    return position;
  }
}

export const toolHandlers = [ChangeToolHandler, CreateToolHandler, DeleteToolHandler, ImportToolHandler];
