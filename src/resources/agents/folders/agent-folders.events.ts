import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

export type AgentFolderId = string;

type About<More = unknown> = { folderId: AgentFolderId; ownerId: string } & More;

/** Without a parent it stands at the top. */
export type AgentFolderCreated = Event<
  'AgentFolderCreated',
  About<{ name: string; parentId: AgentFolderId | null; createdAt: string }>
>;
/** Holds what changed, whole. */
export type AgentFolderChanged = Event<
  'AgentFolderChanged',
  About<{ name?: string; parentId?: AgentFolderId | null; updatedAt: string }>
>;
/** The folders in it stand at the top from here on, and its agents are in none. */
export type AgentFolderDeleted = Event<'AgentFolderDeleted', About>;

export type AgentFoldersEvent = AgentFolderCreated | AgentFolderChanged | AgentFolderDeleted;

/** All folders of a user: whether one may be put into another depends on all of them. */
export const agentFoldersStream = (ownerId: string): string => `agentFolders-${deterministicId('agent-folders', ownerId)}`;
