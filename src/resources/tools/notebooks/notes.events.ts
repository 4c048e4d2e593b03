import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { Call } from './notebook.policy.js';
import type { TextEdit } from './text-edit.policy.js';

export type NotesId = string;

type Change<More = unknown> = { notesId: NotesId; call: Call; at: string } & More;

export type NotesStarted = Event<'NotesStarted', { notesId: NotesId; ownerId: string; agentId: string | null }>;
export type NoteOverwritten = Event<'NoteOverwritten', Change<{ content: string }>>;
export type NoteEdited = Event<'NoteEdited', Change<{ edit: TextEdit }>>;
export type NoteDeleted = Event<'NoteDeleted', Change>;

export type NotesEvent = NotesStarted | NoteOverwritten | NoteEdited | NoteDeleted;

export const notesStream = (id: NotesId): string => `notes-${id}`;
