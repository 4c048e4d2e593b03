import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { insert, type Notes, notes, type NotesChange, overwrite, remove, removeLines, replace } from './notes.decider.js';
import { type NotesEvent, notesStream } from './notes.events.js';

/** A change of a note. Lines count from 1; text is inserted after a line. */
export type NoteEdit =
  | Readonly<{ type: 'overwrite'; text: string }>
  | Readonly<{ type: 'replace'; old: string; inserted: string }>
  | Readonly<{ type: 'insert'; line: number; text: string }>
  | Readonly<{ type: 'remove-lines'; first: number; last: number }>
  | Readonly<{ type: 'remove' }>;

/** A tool call changes a note. Returns the note after the change. */
export class ChangeNotes extends Command<Folded<Notes>> {
  constructor(
    readonly change: Omit<NotesChange, 'now'>,
    readonly edit: NoteEdit,
    readonly known: Folded<Notes>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeNotes)
export class ChangeNotesHandler implements Handler<ChangeNotes> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  execute({ change, edit, known, cause }: ChangeNotes): Promise<Folded<Notes>> {
    const decision = decisionOn({ ...change, now: this.clock.now() }, edit);
    return this.streams.transact(notesStream(change.notesId), notes, decision, cause, known);
  }
}

function decisionOn(change: NotesChange, edit: NoteEdit): Decision<Notes, NotesEvent> {
  switch (edit.type) {
    case 'overwrite':
      return overwrite(change, edit.text);
    case 'replace':
      return replace(change, edit.old, edit.inserted);
    case 'insert':
      return insert(change, edit.line, edit.text);
    case 'remove-lines':
      return removeLines(change, edit.first, edit.last);
    case 'remove':
      return remove(change);
  }
}
