import { Injectable } from '@nestjs/common';
import {
  type CallArguments,
  filledAction,
  isLeftOut,
  numberArgument,
  rangeArgument,
  textArgument,
  unknownAction,
} from '../toolbox/call-arguments.policy.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import { notebookId } from './notebook.policy.js';
import { Notebooks, failuresAsToolText } from './notebooks.js';
import { ChangeNotes, type NoteEdit } from './notes.commands.js';
import { notes, THE_NOTE } from './notes.decider.js';
import { notesStream } from './notes.events.js';
import { numberedLines } from './text-edit.policy.js';

const ACTIONS: readonly ActionDefinition[] = [
  filledAction('note_view', 'Shows the note with line numbers.', 'read', {
    view_range: {
      type: 'array',
      items: { type: 'integer' },
      minItems: 2,
      maxItems: 2,
      description: 'First and last line to be shown, counted from 1; -1 is the last line.',
      optional: true,
    },
  }),
  filledAction('note_overwrite', 'Replaces the whole note.', 'write', {
    text: { type: 'string', description: 'The whole note.' },
  }),
  filledAction('note_str_replace', 'Replaces a text that occurs exactly once in the note.', 'write', {
    old_str: { type: 'string', description: 'The text as it stands in the note, white space included.' },
    new_str: { type: 'string', description: 'The replacement; it may be empty.' },
  }),
  filledAction('note_insert', 'Inserts text after a line of the note.', 'write', {
    insert_line: { type: 'integer', description: 'The line after which the text is inserted; 0 is the beginning.' },
    text: { type: 'string', description: 'One or more whole lines.' },
  }),
  filledAction('note_delete', 'Deletes lines of the note, or all of it.', 'write', {
    first_line: {
      type: 'integer',
      description: 'The first line to be deleted; without it the whole note is deleted.',
      optional: true,
    },
    last_line: { type: 'integer', description: 'The last line to be deleted, if it is not the first.', optional: true },
  }),
];

/** The result of a call. Users can read the note by its artifact id. */
export type NotesResult = Readonly<{ artifact_id: string } & ({ content: string } | { message: string })>;

/** A text that a model stores about a user. */
@Injectable()
export class NotesTool extends ToolKind {
  override readonly name = 'notes';
  override readonly displayName = 'Notes';
  override readonly description = 'A note that the assistant writes and the user can look at.';
  override readonly configFields = {};
  override readonly actions = ACTIONS;

  constructor(private readonly notebooks: Notebooks) {
    super();
  }

  run({ name }: ActionDefinition, args: CallArguments, _tool: UsedTool, context: CallContext): Promise<NotesResult> {
    return failuresAsToolText(() => this.result(name, args, context));
  }

  private async result(
    name: string,
    args: CallArguments,
    { userId, agentId, turnId, callId, cause }: CallContext,
  ): Promise<NotesResult> {
    const keeper = { ownerId: userId, agentId };
    const notesId = notebookId('notes', keeper);
    if (name === 'note_view') {
      const { content } = await this.notebooks.read(notesStream(notesId), notes);
      if (content === null) return { artifact_id: notesId, content: 'There is no note yet.' };
      const lines = numberedLines(THE_NOTE, content, rangeArgument(args, 'view_range'));
      return { artifact_id: notesId, content: lines || 'The note is empty.' };
    }
    const change = { ...keeper, notesId, call: { turnId, callId } };
    const { edit, message } = editFor(name, args);
    await this.notebooks.change(notesStream(notesId), notes, (known) => new ChangeNotes(change, edit, known, cause));
    return { artifact_id: notesId, message };
  }
}

function editFor(name: string, args: CallArguments): Readonly<{ edit: NoteEdit; message: string }> {
  switch (name) {
    case 'note_overwrite':
      return { edit: { type: 'overwrite', text: textArgument(args, 'text') }, message: 'Wrote the note.' };
    case 'note_str_replace': {
      const [old, inserted] = [textArgument(args, 'old_str'), textArgument(args, 'new_str')];
      return { edit: { type: 'replace', old, inserted }, message: 'Changed the note.' };
    }
    case 'note_insert': {
      const line = numberArgument(args, 'insert_line');
      return { edit: { type: 'insert', line, text: textArgument(args, 'text') }, message: `Inserted after line ${line}.` };
    }
    case 'note_delete': {
      if (isLeftOut(args['first_line']) && isLeftOut(args['last_line'])) {
        return { edit: { type: 'remove' }, message: 'Deleted the note.' };
      }
      const first = numberArgument(args, 'first_line');
      const last = isLeftOut(args['last_line']) ? first : numberArgument(args, 'last_line');
      return { edit: { type: 'remove-lines', first, last }, message: `Deleted lines ${first} to ${last}.` };
    }
    default:
      throw unknownAction(name);
  }
}
