import { Injectable } from '@nestjs/common';
import {
  type CallArguments,
  filledAction,
  numberArgument,
  rangeArgument,
  textArgument,
  unknownAction,
} from '../toolbox/call-arguments.policy.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import { memoryPath } from './memory-path.policy.js';
import { ChangeMemory, type MemoryEdit } from './memory.commands.js';
import { fileAt, filesUnder, memory, type Memory, notFound } from './memory.decider.js';
import { memoryStream } from './memory.events.js';
import { notebookId } from './notebook.policy.js';
import { Notebooks, failuresAsToolText } from './notebooks.js';
import { bytesOf, numberedLines } from './text-edit.policy.js';

const PATH = { type: 'string', description: 'A path from the root of the memory, such as /projects/plan.md.' };

const ACTIONS: readonly ActionDefinition[] = [
  filledAction('memory_view', 'Shows a file with line numbers, or lists the files under a directory. Begin with /.', 'read', {
    path: { ...PATH, description: 'A file, or a directory such as /.' },
    view_range: {
      type: 'array',
      items: { type: 'integer' },
      minItems: 2,
      maxItems: 2,
      description: 'First and last line of the file to be shown, counted from 1; -1 is its last line.',
      optional: true,
    },
  }),
  filledAction('memory_create', 'Writes a file. An existing file is overwritten.', 'write', {
    path: PATH,
    file_text: { type: 'string', description: 'The whole content.' },
  }),
  filledAction('memory_str_replace', 'Replaces a text that occurs exactly once in a file.', 'write', {
    path: PATH,
    old_str: { type: 'string', description: 'The text as it stands in the file, white space included.' },
    new_str: { type: 'string', description: 'The replacement; it may be empty.' },
  }),
  filledAction('memory_insert', 'Inserts text after a line of a file.', 'write', {
    path: PATH,
    insert_line: { type: 'integer', description: 'The line after which the text is inserted; 0 is the beginning of the file.' },
    insert_text: { type: 'string', description: 'One or more whole lines.' },
  }),
  filledAction('memory_delete', 'Deletes a file, or a directory with everything in it.', 'write', { path: PATH }),
  filledAction('memory_rename', 'Renames or moves a file or a directory.', 'write', {
    old_path: PATH,
    new_path: { ...PATH, description: 'The new path, at which nothing exists yet.' },
  }),
];

/** Files in which a model stores information about a user across conversations. */
@Injectable()
export class MemoryTool extends ToolKind {
  override readonly name = 'memory';
  override readonly displayName = 'Memory';
  override readonly description = 'Files in which the assistant remembers things from one conversation to the next.';
  override readonly configFields = {};
  override readonly actions = ACTIONS;

  constructor(private readonly notebooks: Notebooks) {
    super();
  }

  run({ name }: ActionDefinition, args: CallArguments, _tool: UsedTool, context: CallContext): Promise<string> {
    return failuresAsToolText(() => this.result(name, args, context));
  }

  private async result(
    name: string,
    args: CallArguments,
    { userId, agentId, turnId, callId, cause }: CallContext,
  ): Promise<string> {
    const keeper = { ownerId: userId, agentId };
    const memoryId = notebookId('memory', keeper);
    if (name === 'memory_view') {
      const path = pathArgument(args, 'path');
      return viewed(await this.notebooks.read(memoryStream(memoryId), memory), path, rangeArgument(args, 'view_range'));
    }
    const change = { ...keeper, memoryId, call: { turnId, callId } };
    const { edit, done } = editFor(name, args);
    await this.notebooks.change(memoryStream(memoryId), memory, (known) => new ChangeMemory(change, edit, known, cause));
    return done;
  }
}

const pathArgument = (args: CallArguments, name: string): string => memoryPath(name, textArgument(args, name));

function editFor(name: string, args: CallArguments): Readonly<{ edit: MemoryEdit; done: string }> {
  switch (name) {
    case 'memory_create': {
      const path = pathArgument(args, 'path');
      return { edit: { type: 'write', path, content: textArgument(args, 'file_text') }, done: `Wrote ${path}.` };
    }
    case 'memory_str_replace': {
      const path = pathArgument(args, 'path');
      const [old, inserted] = [textArgument(args, 'old_str'), textArgument(args, 'new_str')];
      return { edit: { type: 'replace', path, old, inserted }, done: `Changed ${path}.` };
    }
    case 'memory_insert': {
      const path = pathArgument(args, 'path');
      const [line, text] = [numberArgument(args, 'insert_line'), textArgument(args, 'insert_text')];
      return { edit: { type: 'insert', path, line, text }, done: `Inserted after line ${line} of ${path}.` };
    }
    case 'memory_delete': {
      const path = pathArgument(args, 'path');
      return { edit: { type: 'remove', path }, done: `Deleted ${path}.` };
    }
    case 'memory_rename': {
      const [from, to] = [pathArgument(args, 'old_path'), pathArgument(args, 'new_path')];
      return { edit: { type: 'rename', from, to }, done: `Renamed ${from} to ${to}.` };
    }
    default:
      throw unknownAction(name);
  }
}

function viewed(state: Memory, path: string, range: readonly [number, number] | undefined): string {
  if (state.files.has(path)) return numberedLines(path, fileAt(state, path), range) || `${path} is empty.`;
  const files = filesUnder(state, path);
  if (!files) throw notFound(path);
  if (files.length === 0) return 'The memory is empty.';
  return [`Files under ${path}:`, ...files.map((file) => `${file} (${bytesOf(fileAt(state, file))} bytes)`)].join('\n');
}
