import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { NotesEvent } from './notes.events.js';

export const notesCodec: Codec<NotesEvent> = { NotesStarted: [], NoteOverwritten: [], NoteEdited: [], NoteDeleted: [] };
