import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { type Call, type Keeper, type NotebookState, once, refused, withCall } from './notebook.policy.js';
import { notesCodec } from './notes.codec.js';
import type { NotesEvent } from './notes.events.js';
import { bytesOf, deletion, edited, insertion, replacement, type TextEdit } from './text-edit.policy.js';

export const NOTE_BYTES_MAX = 256 * 1024;

/** The content of a note; null before the first text and after a deletion. */
export type Notes = NotebookState & Readonly<{ content: string | null; updatedAt: string }>;

const initial: Notes = { ownerId: null, calls: [], content: null, updatedAt: '' };

export const notes: Aggregate<Notes, NotesEvent> = { initial, evolve, codec: notesCodec };

function evolve(state: Notes, event: NotesEvent): Notes {
  if (event.type === 'NotesStarted') return { ...state, ownerId: event.data.ownerId };
  const { call, at } = event.data;
  return { ...state, content: contentAfter(state.content, event), updatedAt: at, calls: withCall(state.calls, call) };
}

function contentAfter(content: string | null, event: Exclude<NotesEvent, { type: 'NotesStarted' }>): string | null {
  switch (event.type) {
    case 'NoteOverwritten':
      return event.data.content;
    case 'NoteEdited':
      return edited(content ?? '', event.data.edit);
    case 'NoteDeleted':
      return null;
  }
}

type Decide = Decision<Notes, NotesEvent>;

/** The note, its owner and agent, the call that changes it, and the time. */
export type NotesChange = Keeper & Readonly<{ notesId: string; call: Call; now: Date }>;

export const overwrite = (change: NotesChange, content: string): Decide =>
  changing(change, (state) => {
    if (state.content === content) return [];
    refuseTooLong(content);
    return [{ type: 'NoteOverwritten', data: { ...about(change), content } }];
  });

export const replace = (change: NotesChange, old: string, inserted: string): Decide =>
  editing(change, (content) => replacement(THE_NOTE, content, old, inserted));

export const insert = (change: NotesChange, line: number, text: string): Decide =>
  editing(change, (content) => insertion(THE_NOTE, content, line, text));

export const removeLines = (change: NotesChange, first: number, last: number): Decide =>
  editing(change, (content) => deletion(THE_NOTE, content, first, last));

export const remove = (change: NotesChange): Decide =>
  changing(change, ({ content }) => (content === null ? [] : [{ type: 'NoteDeleted', data: about(change) }]));

export const THE_NOTE = 'the note';

const about = ({ notesId, call, now }: NotesChange) => ({ notesId, call, at: now.toISOString() });

const changing = (change: NotesChange, decide: Decide): Decide => {
  const { notesId, ownerId, agentId, call } = change;
  return once(call, { type: 'NotesStarted', data: { notesId, ownerId, agentId } }, decide);
};

const editing = (change: NotesChange, editOf: (text: string) => TextEdit): Decide =>
  changing(change, ({ content }) => {
    if (content === null) throw refused('There is no note yet: write one with note_overwrite.');
    const edit = editOf(content);
    if (edit.removed === edit.inserted) return [];
    refuseTooLong(edited(content, edit));
    return [{ type: 'NoteEdited', data: { ...about(change), edit } }];
  });

function refuseTooLong(content: string): void {
  const bytes = bytesOf(content);
  if (bytes > NOTE_BYTES_MAX)
    throw refused(`The note holds ${NOTE_BYTES_MAX} bytes at most and would have ${bytes}: shorten it.`);
}
