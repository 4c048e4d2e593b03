import type { Codec } from '../../kernel/codec.js';
import type { NotesEvent } from './notes.events.js';

export const notesCodec: Codec<NotesEvent> = { NotesStarted: [], NoteOverwritten: [], NoteEdited: [], NoteDeleted: [] };
