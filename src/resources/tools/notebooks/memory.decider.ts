import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { isUnder, PATH_CHARACTERS_MAX, ROOT, tooLong } from './memory-path.policy.js';
import { memoryCodec } from './memory.codec.js';
import type { MemoryEvent } from './memory.events.js';
import { type Call, type Keeper, type NotebookState, once, refused, withCall } from './notebook.policy.js';
import { bytesOf, edited, insertion, replacement, type TextEdit } from './text-edit.policy.js';

export const MEMORY_FILES_MAX = 200;
export const MEMORY_FILE_BYTES_MAX = 64 * 1024;
export const MEMORY_BYTES_MAX = 512 * 1024;

/** The files of a memory by path. A directory exists as long as there is a file under it. */
export type Memory = NotebookState & Readonly<{ files: ReadonlyMap<string, string> }>;

const initial: Memory = { ownerId: null, calls: [], files: new Map() };

export const memory: Aggregate<Memory, MemoryEvent> = { initial, evolve, codec: memoryCodec };

function evolve(state: Memory, event: MemoryEvent): Memory {
  if (event.type === 'MemoryStarted') return { ...state, ownerId: event.data.ownerId };
  return { ...state, calls: withCall(state.calls, event.data.call), files: filesAfter(state.files, event) };
}

function filesAfter(files: Memory['files'], event: Exclude<MemoryEvent, { type: 'MemoryStarted' }>): Memory['files'] {
  switch (event.type) {
    case 'MemoryFileWritten':
      return new Map(files).set(event.data.path, event.data.content);
    case 'MemoryFileEdited':
      return new Map(files).set(event.data.path, edited(files.get(event.data.path) ?? '', event.data.edit));
    case 'MemoryPathDeleted':
      return new Map([...files].filter(([path]) => !isAtOrUnder(path, event.data.path)));
    case 'MemoryPathRenamed': {
      const { from, to } = event.data;
      return new Map(
        [...files].map(([path, content]) => [isAtOrUnder(path, from) ? to + path.slice(from.length) : path, content]),
      );
    }
  }
}

type Decide = Decision<Memory, MemoryEvent>;

/** The memory, its owner and agent, and the call that changes it. */
export type MemoryChange = Keeper & Readonly<{ memoryId: string; call: Call }>;

export const write = (change: MemoryChange, path: string, content: string): Decide =>
  changing(change, ({ files }) => {
    if (files.get(path) === content) return [];
    refuseUnlessFree(files, path);
    return [{ type: 'MemoryFileWritten', data: { ...about(change), path, content } }];
  });

export const replace = (change: MemoryChange, path: string, old: string, inserted: string): Decide =>
  editing(change, path, (text) => replacement(path, text, old, inserted));

export const insert = (change: MemoryChange, path: string, line: number, text: string): Decide =>
  editing(change, path, (content) => insertion(path, content, line, text));

export const remove = (change: MemoryChange, path: string): Decide =>
  changing(change, ({ files }) => {
    if (![...files.keys()].some((each) => isAtOrUnder(each, path))) throw notFound(path);
    return [{ type: 'MemoryPathDeleted', data: { ...about(change), path } }];
  });

export const rename = (change: MemoryChange, from: string, to: string): Decide =>
  changing(change, ({ files }) => {
    if (from === ROOT || to === ROOT) throw refused('The root, /, cannot be renamed or replaced.');
    const moved = [...files.keys()].filter((path) => isAtOrUnder(path, from));
    if (moved.length === 0) throw notFound(from);
    if (from === to) return [];
    if (isUnder(to, from)) throw refused(`${from} cannot be moved into itself.`);
    if (isDirectory(files, to) || files.has(to)) throw refused(`${to} exists already: delete it first, or choose another name.`);
    refuseUnlessFree(new Map([...files].filter(([path]) => !moved.includes(path))), to);
    const longest = Math.max(...moved.map((path) => [...(to + path.slice(from.length))].length));
    if (longest > PATH_CHARACTERS_MAX) throw tooLong('new_path');
    return [{ type: 'MemoryPathRenamed', data: { ...about(change), from, to } }];
  });

/** The text of a file. @throws Rejection tool-call-refused */
export function fileAt({ files }: Memory, path: string): string {
  const content = files.get(path);
  if (content !== undefined) return content;
  throw isDirectory(files, path) ? refused(`${path} is a directory: name a file in it.`) : notFound(path);
}

/** The sorted paths of the files under a directory; undefined if it does not exist. The root always exists. */
export function filesUnder({ files }: Memory, directory: string): readonly string[] | undefined {
  const paths = [...files.keys()].filter((path) => isUnder(path, directory)).sort();
  return paths.length > 0 || directory === ROOT ? paths : undefined;
}

export const notFound = (path: string) => refused(`There is no ${path}. View / to see what there is.`);

const isAtOrUnder = (path: string, place: string): boolean => path === place || isUnder(path, place);

const isDirectory = (files: Memory['files'], path: string): boolean => [...files.keys()].some((each) => isUnder(each, path));

const about = ({ memoryId, call }: MemoryChange) => ({ memoryId, call });

/** Refuses a change that exceeds a limit. @throws Rejection tool-call-refused */
function changing(change: MemoryChange, decide: Decide): Decide {
  const { memoryId, ownerId, agentId, call } = change;
  const within: Decide = (state) => {
    const events = decide(state);
    for (const event of events) refuseOverfull(state, evolve(state, event));
    return events;
  };
  return once(call, { type: 'MemoryStarted', data: { memoryId, ownerId, agentId } }, within);
}

const editing = (change: MemoryChange, path: string, editOf: (text: string) => TextEdit): Decide =>
  changing(change, (state) => {
    const edit = editOf(fileAt(state, path));
    if (edit.removed === edit.inserted) return [];
    return [{ type: 'MemoryFileEdited', data: { ...about(change), path, edit } }];
  });

/** Refuses a file at the path of a directory or under another file. @throws Rejection tool-call-refused */
function refuseUnlessFree(files: Memory['files'], path: string): void {
  if (path === ROOT || isDirectory(files, path)) throw refused(`${path} is a directory: name a file in it.`);
  const above = [...files.keys()].find((file) => isUnder(path, file));
  if (above !== undefined) throw refused(`${above} is a file: nothing can be put under it.`);
}

function refuseOverfull(before: Memory, { files }: Memory): void {
  if (files.size > MEMORY_FILES_MAX) throw refused(`The memory holds ${MEMORY_FILES_MAX} files at most: delete some first.`);
  let sum = 0;
  for (const [path, content] of files) {
    const bytes = bytesOf(content);
    sum += bytes;
    if (bytes > MEMORY_FILE_BYTES_MAX && before.files.get(path) !== content) {
      throw refused(`A file holds ${MEMORY_FILE_BYTES_MAX} bytes at most; ${path} would have ${bytes}. Split or shorten it.`);
    }
  }
  if (sum > MEMORY_BYTES_MAX) {
    throw refused(
      `The memory holds ${MEMORY_BYTES_MAX} bytes at most and would have ${sum}: delete or shorten some files first.`,
    );
  }
}
