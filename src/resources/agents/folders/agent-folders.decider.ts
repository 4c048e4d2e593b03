import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { agentFoldersCodec } from './agent-folders.codec.js';
import type { AgentFolderId, AgentFoldersEvent } from './agent-folders.events.js';

export const FOLDERS_MAX = 1_000;

type Folder = Readonly<{ name: string; parentId: AgentFolderId | null }>;

/** The folders of a user, by their ids. */
export type AgentFolders = Readonly<{ folders: ReadonlyMap<AgentFolderId, Folder> }>;

export const agentFolders: Aggregate<AgentFolders, AgentFoldersEvent> = {
  initial: { folders: new Map() },
  evolve,
  codec: agentFoldersCodec,
};

function evolve({ folders }: AgentFolders, event: AgentFoldersEvent): AgentFolders {
  const { folderId } = event.data;
  switch (event.type) {
    case 'AgentFolderCreated': {
      const { name, parentId } = event.data;
      return { folders: new Map([...folders, [folderId, { name, parentId }]]) };
    }
    case 'AgentFolderChanged': {
      const current = folders.get(folderId)!;
      const { name = current.name, parentId = current.parentId } = event.data;
      return { folders: new Map([...folders, [folderId, { name, parentId }]]) };
    }
    case 'AgentFolderDeleted': {
      const others = [...folders].filter(([id]) => id !== folderId);
      return {
        folders: new Map(
          others.map(([id, folder]) => [id, folder.parentId === folderId ? { ...folder, parentId: null } : folder]),
        ),
      };
    }
  }
}

type Decide = Decision<AgentFolders, AgentFoldersEvent>;

export const folderNotFound = (text = 'Folder not found') => new Rejection('folder-not-found', text);

export const createFolder =
  (ownerId: string, folderId: AgentFolderId, { name, parentId, now }: Folder & Readonly<{ now: Date }>): Decide =>
  ({ folders }) => {
    if (folders.has(folderId)) return [];
    if (folders.size >= FOLDERS_MAX) throw new Rejection('too-many-folders', `There are ${FOLDERS_MAX} folders already`);
    refuseMissingParent(folders, parentId);
    return [{ type: 'AgentFolderCreated', data: { folderId, ownerId, name, parentId, createdAt: now.toISOString() } }];
  };

/** Renames or moves a folder. A field that is left out does not change. */
export const changeFolder =
  (ownerId: string, folderId: AgentFolderId, { now, ...wanted }: Partial<Folder> & Readonly<{ now: Date }>): Decide =>
  ({ folders }) => {
    const current = folders.get(folderId);
    if (!current) throw folderNotFound();
    const { name = current.name, parentId = current.parentId } = wanted;
    if (parentId !== current.parentId) {
      refuseMissingParent(folders, parentId);
      refuseCycle(folders, folderId, parentId);
    }
    const changes = { ...(name !== current.name && { name }), ...(parentId !== current.parentId && { parentId }) };
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'AgentFolderChanged', data: { folderId, ownerId, ...changes, updatedAt: now.toISOString() } }];
  };

export const deleteFolder =
  (ownerId: string, folderId: AgentFolderId): Decide =>
  ({ folders }) => {
    if (!folders.has(folderId)) throw folderNotFound();
    return [{ type: 'AgentFolderDeleted', data: { folderId, ownerId } }];
  };

function refuseMissingParent(folders: AgentFolders['folders'], parentId: AgentFolderId | null): void {
  if (parentId !== null && !folders.has(parentId)) throw folderNotFound('Parent folder not found');
}

/** Refuses to move a folder into itself or into one of its subfolders. */
function refuseCycle(folders: AgentFolders['folders'], folderId: AgentFolderId, parentId: AgentFolderId | null): void {
  if (parentId === folderId) throw new Rejection('folder-in-itself', 'Cannot set folder as its own parent');
  for (let above = parentId; above !== null; above = folders.get(above)!.parentId)
    if (above === folderId) throw new Rejection('folder-in-itself', 'Cannot move a folder into one of its own subfolders');
}
