import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

export type AgentFolderId = string;

type About<More = unknown> = { folderId: AgentFolderId; ownerId: string } & More;

/** A folder with `parentId` null is at the top level. */
export type AgentFolderCreated = Event<
  'AgentFolderCreated',
  About<{ name: string; parentId: AgentFolderId | null; createdAt: string }>
>;
/** Holds only the fields that changed. */
export type AgentFolderChanged = Event<
  'AgentFolderChanged',
  About<{ name?: string; parentId?: AgentFolderId | null; updatedAt: string }>
>;
/** The subfolders move to the top level, and the agents of the folder are then in no folder. */
export type AgentFolderDeleted = Event<'AgentFolderDeleted', About>;

export type AgentFoldersEvent = AgentFolderCreated | AgentFolderChanged | AgentFolderDeleted;

/** One stream holds all folders of a user, because the check for cycles needs all of them. */
export const agentFoldersStream = (ownerId: string): string => `agentFolders-${deterministicId('agent-folders', ownerId)}`;
