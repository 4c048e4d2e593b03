import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { Call } from './notebook.policy.js';
import type { TextEdit } from './text-edit.policy.js';

export type MemoryId = string;

type Change<More> = { memoryId: MemoryId; call: Call } & More;

export type MemoryStarted = Event<'MemoryStarted', { memoryId: MemoryId; ownerId: string; agentId: string | null }>;
/** A file was created or overwritten. */
export type MemoryFileWritten = Event<'MemoryFileWritten', Change<{ path: string; content: string }>>;
export type MemoryFileEdited = Event<'MemoryFileEdited', Change<{ path: string; edit: TextEdit }>>;
/** A file, or a directory with everything under it, was deleted. */
export type MemoryPathDeleted = Event<'MemoryPathDeleted', Change<{ path: string }>>;
export type MemoryPathRenamed = Event<'MemoryPathRenamed', Change<{ from: string; to: string }>>;

export type MemoryEvent = MemoryStarted | MemoryFileWritten | MemoryFileEdited | MemoryPathDeleted | MemoryPathRenamed;

export const memoryStream = (id: MemoryId): string => `memory-${id}`;
