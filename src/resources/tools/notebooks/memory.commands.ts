import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { insert, memory, type Memory, type MemoryChange, remove, rename, replace, write } from './memory.decider.js';
import { type MemoryEvent, memoryStream } from './memory.events.js';

/** A change of the files of a memory. Lines count from 1; text is inserted after a line. */
export type MemoryEdit =
  | Readonly<{ type: 'write'; path: string; content: string }>
  | Readonly<{ type: 'replace'; path: string; old: string; inserted: string }>
  | Readonly<{ type: 'insert'; path: string; line: number; text: string }>
  | Readonly<{ type: 'remove'; path: string }>
  | Readonly<{ type: 'rename'; from: string; to: string }>;

/** A tool call changes a memory. Returns the memory after the change. */
export class ChangeMemory extends Command<Folded<Memory>> {
  constructor(
    readonly change: MemoryChange,
    readonly edit: MemoryEdit,
    readonly known: Folded<Memory>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeMemory)
export class ChangeMemoryHandler implements Handler<ChangeMemory> {
  constructor(private readonly streams: Streams) {}

  execute({ change, edit, known, cause }: ChangeMemory): Promise<Folded<Memory>> {
    return this.streams.transact(memoryStream(change.memoryId), memory, decisionOn(change, edit), cause, known);
  }
}

function decisionOn(change: MemoryChange, edit: MemoryEdit): Decision<Memory, MemoryEvent> {
  switch (edit.type) {
    case 'write':
      return write(change, edit.path, edit.content);
    case 'replace':
      return replace(change, edit.path, edit.old, edit.inserted);
    case 'insert':
      return insert(change, edit.path, edit.line, edit.text);
    case 'remove':
      return remove(change, edit.path);
    case 'rename':
      return rename(change, edit.from, edit.to);
  }
}
