import { describe, expect, it } from '@jest/globals';
import { agentFolders, changeFolder, createFolder, deleteFolder, FOLDERS_MAX } from './agent-folders.decider.js';
import type { AgentFoldersEvent } from './agent-folders.events.js';

const now = new Date('2026-03-01T00:00:00.000Z');
const after = (...events: readonly AgentFoldersEvent[]) => events.reduce(agentFolders.evolve, agentFolders.initial);
const created = (folderId: string, parentId: string | null = null): AgentFoldersEvent => ({
  type: 'AgentFolderCreated',
  data: { folderId, ownerId: 'ann', name: folderId, parentId, createdAt: now.toISOString() },
});
const nested = after(created('a'), created('b', 'a'), created('c', 'b'));

describe('a folder of agents', () => {
  it('is created in another folder, but not in an unknown one', () => {
    expect(createFolder('ann', 'd', { name: 'D', parentId: 'c', now })(nested)).toEqual([
      {
        type: 'AgentFolderCreated',
        data: { folderId: 'd', ownerId: 'ann', name: 'D', parentId: 'c', createdAt: now.toISOString() },
      },
    ]);
    expect(() => createFolder('ann', 'd', { name: 'D', parentId: 'x', now })(nested)).toThrow('Parent folder not found');
  });

  it.each(['a', 'b', 'c'])('is not put into itself: a into %s', (parentId) => {
    expect(() => changeFolder('ann', 'a', { parentId, now })(nested)).toThrow(/own/);
  });

  it('is moved and renamed, and a change to the current values appends no event', () => {
    const changed = { folderId: 'c', ownerId: 'ann', updatedAt: now.toISOString() };
    expect(changeFolder('ann', 'c', { parentId: 'a', now })(nested)).toEqual([
      { type: 'AgentFolderChanged', data: { ...changed, parentId: 'a' } },
    ]);
    expect(changeFolder('ann', 'c', { parentId: null, name: 'C', now })(nested)).toEqual([
      { type: 'AgentFolderChanged', data: { ...changed, parentId: null, name: 'C' } },
    ]);
    expect(changeFolder('ann', 'c', { parentId: 'b', name: 'c', now })(nested)).toEqual([]);
    expect(() => changeFolder('ann', 'x', { now })(nested)).toThrow('Folder not found');
    expect(() => changeFolder('ann', 'c', { parentId: 'x', now })(nested)).toThrow('Parent folder not found');
  });

  it('moves its subfolders, and no others, to the top level when it is deleted', () => {
    const [event] = deleteFolder('ann', 'b')(nested);
    const left = [created('beside', 'a'), event!].reduce(agentFolders.evolve, nested);
    expect([...left.folders].map(([id, { parentId }]) => [id, parentId])).toEqual([
      ['a', null],
      ['c', null],
      ['beside', 'a'],
    ]);
    expect(changeFolder('ann', 'a', { parentId: 'c', now })(left)).toHaveLength(1);
    expect(() => deleteFolder('ann', 'b')(left)).toThrow('Folder not found');
  });

  it('is refused beyond the maximum number', () => {
    const full = after(...Array.from({ length: FOLDERS_MAX }, (_, at) => created(String(at))));
    expect(() => createFolder('ann', 'one more', { name: 'x', parentId: null, now })(full)).toThrow(/already/);
  });
});
