import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import { agentFolders, changeFolder, createFolder, deleteFolder } from './agent-folders.decider.js';
import { type AgentFolderId, agentFoldersStream } from './agent-folders.events.js';

type FolderFields = Readonly<{ name: string; parentId: AgentFolderId | null }>;

/** Creates a folder for a user's agents. */
export class CreateAgentFolder extends Command<Readonly<{ folderId: AgentFolderId; position: bigint | undefined }>> {
  constructor(
    readonly ownerId: string,
    readonly folder: FolderFields,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateAgentFolder)
export class CreateAgentFolderHandler implements Handler<CreateAgentFolder> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ ownerId, folder, cause }: CreateAgentFolder) {
    const folderId = newId();
    const decision = createFolder(ownerId, folderId, { ...folder, now: this.clock.now() });
    const { position } = await this.streams.transact(agentFoldersStream(ownerId), agentFolders, decision, cause);
    return { folderId, position };
  }
}

/** Renames a folder or moves it into another one. */
export class ChangeAgentFolder extends Command<bigint | undefined> {
  constructor(
    readonly folderId: AgentFolderId,
    readonly ownerId: string,
    readonly change: Partial<FolderFields>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeAgentFolder)
export class ChangeAgentFolderHandler implements Handler<ChangeAgentFolder> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ folderId, ownerId, change, cause }: ChangeAgentFolder): Promise<bigint | undefined> {
    const decision = changeFolder(ownerId, folderId, { ...change, now: this.clock.now() });
    return (await this.streams.transact(agentFoldersStream(ownerId), agentFolders, decision, cause)).position;
  }
}

/** Deletes a folder but not the agents and folders in it. */
export class DeleteAgentFolder extends Command<bigint | undefined> {
  constructor(
    readonly folderId: AgentFolderId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteAgentFolder)
export class DeleteAgentFolderHandler implements Handler<DeleteAgentFolder> {
  constructor(private readonly streams: Streams) {}

  async execute({ folderId, ownerId, cause }: DeleteAgentFolder): Promise<bigint | undefined> {
    const decision = deleteFolder(ownerId, folderId);
    return (await this.streams.transact(agentFoldersStream(ownerId), agentFolders, decision, cause)).position;
  }
}
