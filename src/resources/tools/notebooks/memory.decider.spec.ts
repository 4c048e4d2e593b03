import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../../test/support/given.js';
import { memoryPath, PATH_CHARACTERS_MAX } from './memory-path.policy.js';
import {
  insert,
  memory,
  type Memory,
  MEMORY_BYTES_MAX,
  MEMORY_FILE_BYTES_MAX,
  MEMORY_FILES_MAX,
  type MemoryChange,
  remove,
  rename,
  replace,
  write,
} from './memory.decider.js';
import type { MemoryEvent } from './memory.events.js';
import { CALLS_REMEMBERED_MAX } from './notebook.policy.js';
import { bytesOf } from './text-edit.policy.js';

const memoryId = 'm1';
const by = (callId: string): MemoryChange => ({ memoryId, ownerId: 'alice', agentId: null, call: { turnId: 't1', callId } });
const started: MemoryEvent = { type: 'MemoryStarted', data: { memoryId, ownerId: 'alice', agentId: null } };
const written = (path: string, content: string, callId = `${path} was written`): MemoryEvent => ({
  type: 'MemoryFileWritten',
  data: { memoryId, call: { turnId: 't1', callId }, path, content },
});
const about = { memoryId, call: { turnId: 't1', callId: 'c' } };
const past = [started, written('/a.md', 'one\ntwo\n'), written('/plans/b.md', 'x'), written('/plans/deep/c.md', 'y')];
const refusal = (decide: (state: Memory) => unknown, events: readonly MemoryEvent[] = past) =>
  expect(() => decide(events.reduce<Memory>(memory.evolve, memory.initial)));

describe('a memory', () => {
  it('starts with its first change', () =>
    given(memory, [])
      .when(write(by('c'), '/a.md', 'one'))
      .then([started, { type: 'MemoryFileWritten', data: { ...about, path: '/a.md', content: 'one' } }]));
  it('records the text that an edit removed and the text that it inserted', () =>
    given(memory, past)
      .when(replace(by('c'), '/a.md', 'two', 'three'))
      .then([
        { type: 'MemoryFileEdited', data: { ...about, path: '/a.md', edit: { at: 4, removed: 'two', inserted: 'three' } } },
      ]));
  it('inserts whole lines', () =>
    given(memory, past)
      .when(insert(by('c'), '/a.md', 1, 'and a half'))
      .then([
        { type: 'MemoryFileEdited', data: { ...about, path: '/a.md', edit: { at: 4, removed: '', inserted: 'and a half\n' } } },
      ]));
  it('renames a directory with everything in it', () => {
    const state = [
      ...past,
      ...rename(by('c'), '/plans', '/old/plans')(past.reduce<Memory>(memory.evolve, memory.initial)),
    ].reduce(memory.evolve, memory.initial);
    expect([...state.files.keys()]).toEqual(['/a.md', '/old/plans/b.md', '/old/plans/deep/c.md']);
  });
  it('deletes a directory with everything in it, and nothing else', () => {
    const events = [...past, written('/plans2.md', 'z')];
    const state = [...events, ...remove(by('c'), '/plans')(events.reduce<Memory>(memory.evolve, memory.initial))].reduce(
      memory.evolve,
      memory.initial,
    );
    expect([...state.files.keys()]).toEqual(['/a.md', '/plans2.md']);
  });
  it('records nothing if nothing changes', () => {
    given(memory, past)
      .when(write(by('c'), '/a.md', 'one\ntwo\n'))
      .thenNothing();
    given(memory, past)
      .when(replace(by('c'), '/a.md', 'two', 'two'))
      .thenNothing();
    given(memory, past)
      .when(rename(by('c'), '/a.md', '/a.md'))
      .thenNothing();
  });

  it.each([
    ['an edit of a missing file', replace(by('c'), '/b.md', 'a', 'b'), /no \/b\.md/],
    ['an edit of a directory', insert(by('c'), '/plans', 0, 'a'), /is a directory/],
    ['a text that does not occur', replace(by('c'), '/a.md', 'six', 'b'), /does not occur in \/a\.md/],
    ['a text that occurs twice', replace(by('c'), '/a.md', 'o', '0'), /more than once in \/a\.md, first in lines 1 and 2/],
    ['an empty text', replace(by('c'), '/a.md', '', '0'), /`old_str` is empty/],
    ['a line outside the file', insert(by('c'), '/a.md', 3, 'a'), /from 0 to 2: \/a\.md has 2 lines/],
    ['a fraction as a line number', insert(by('c'), '/a.md', 0.5, 'a'), /whole number/],
    ['a file at the path of a directory', write(by('c'), '/plans', 'a'), /is a directory/],
    ['a file at the root', write(by('c'), '/', 'a'), /is a directory/],
    ['a file under a file', write(by('c'), '/a.md/b.md', 'a'), /\/a\.md is a file/],
    ['the deletion of a missing path', remove(by('c'), '/none'), /no \/none/],
    ['a move to an existing path', rename(by('c'), '/a.md', '/plans/b.md'), /exists already/],
    ['a move of a directory into itself', rename(by('c'), '/plans', '/plans/deep/plans'), /into itself/],
    ['a move under a file', rename(by('c'), '/plans', '/a.md/plans'), /\/a\.md is a file/],
    ['a move of the root', rename(by('c'), '/', '/all'), /root/],
    ['a move that makes paths too long', rename(by('c'), '/plans', `/${'x'.repeat(PATH_CHARACTERS_MAX - 6)}`), /longer than 256/],
  ])('refuses %s and gives the reason', (_, decide, why) => refusal(decide).toThrow(why));
});

describe('the limits of a memory', () => {
  const files = (count: number, content: string) => Array.from({ length: count }, (_, index) => written(`/${index}`, content));
  it('include the number of files', () => {
    const full = [started, ...files(MEMORY_FILES_MAX, '')];
    refusal(write(by('c'), '/more', ''), full).toThrow(/200 files at most/);
    expect(
      write(by('c'), '/more', '')([started, ...files(MEMORY_FILES_MAX - 1, '')].reduce<Memory>(memory.evolve, memory.initial)),
    ).toHaveLength(1);
  });
  it('include the size of a file after any kind of edit', () => {
    const most = 'é'.repeat(MEMORY_FILE_BYTES_MAX / 2);
    expect(bytesOf(most)).toBe(MEMORY_FILE_BYTES_MAX);
    given(memory, [started])
      .when(write(by('c'), '/a', most))
      .then([{ type: 'MemoryFileWritten', data: { ...about, path: '/a', content: most } }]);
    refusal(write(by('c'), '/a', `${most}.`)).toThrow(/65536 bytes at most/);
    refusal(insert(by('c'), '/a', 0, '.'), [started, written('/a', most)]).toThrow(/65536 bytes at most/);
    refusal(replace(by('c'), '/b', 'x', 'yz'), [started, written('/b', `x${most.slice(1)}.`)]).toThrow(/65536 bytes at most/);
  });
  it('include the total size', () => {
    const full = [started, ...files(MEMORY_BYTES_MAX / MEMORY_FILE_BYTES_MAX, 'x'.repeat(MEMORY_FILE_BYTES_MAX))];
    refusal(write(by('c'), '/more', '.'), full).toThrow(/524288 bytes at most/);
    expect(write(by('c'), '/0', '.')(full.reduce<Memory>(memory.evolve, memory.initial))).toHaveLength(1);
  });
});

describe('a tool call', () => {
  it('that is repeated changes nothing, even after other changes', () =>
    given(memory, [started, written('/a.md', 'one', 'c'), written('/a.md', 'two', 'd')])
      .when(write(by('c'), '/a.md', 'one'))
      .thenNothing());
  it('with the same id in another turn is a different call', () => {
    const decide = write({ ...by('c'), call: { turnId: 't2', callId: 'c' } }, '/a.md', 'two');
    expect(decide([started, written('/a.md', 'one', 'c')].reduce<Memory>(memory.evolve, memory.initial))).toHaveLength(1);
  });
  it('is recognized until a maximum number of later changes', () => {
    const after = (others: number) =>
      [
        started,
        written('/a', '', 'c'),
        ...Array.from({ length: others }, (_, index) => written('/a', `${index}`, `${index}`)),
      ].reduce<Memory>(memory.evolve, memory.initial);
    expect(write(by('c'), '/a', '')(after(CALLS_REMEMBERED_MAX - 1))).toEqual([]);
    expect(write(by('c'), '/a', '')(after(CALLS_REMEMBERED_MAX))).toHaveLength(1);
  });
});

describe('the path of a file', () => {
  it.each([
    ['/a.md', '/a.md'],
    ['a.md', '/a.md'],
    ['//a//b/', '/a/b'],
    ['/./a/./b', '/a/b'],
    ['  /a b  ', '/a b'],
    ['/', '/'],
    ['.', '/'],
    ['/u\u0308', '/ü'],
    ['/...', '/...'],
  ])('%s is normalized to %s', (given, normal) => expect(memoryPath('path', given)).toBe(normal));
  it.each(['', ' ', '..', '/..', '/a/../b', '/a/..', '../../etc/passwd', '/a/ .. /b', '/a\\..\\b', '/a\u0000', '/a\nb'])(
    '%j is refused',
    (given) => expect(() => memoryPath('path', given)).toThrow(expect.objectContaining({ code: 'tool-call-refused' })),
  );
  it('has a maximum length', () => {
    expect(memoryPath('path', `/${'💡'.repeat(PATH_CHARACTERS_MAX - 1)}`)).toHaveLength(1 + 2 * (PATH_CHARACTERS_MAX - 1));
    expect(() => memoryPath('path', `/${'x'.repeat(PATH_CHARACTERS_MAX)}`)).toThrow(/longer than 256/);
  });
});

it('a repeated change appends nothing, no file is under another file, and every replay gives the same files', () => {
  const path = fc.constantFrom('/', '/a', '/a/b', '/a/b/c', '/d', '/d/e');
  const text = fc.constantFrom('', 'x', 'y\n', 'x\ny\nz', 'xx');
  const decision = fc.oneof(
    fc.tuple(path, text).map(
      ([at, content]) =>
        (change: MemoryChange) =>
          write(change, at, content),
    ),
    fc.tuple(path, text, text).map(
      ([at, old, next]) =>
        (change: MemoryChange) =>
          replace(change, at, old, next),
    ),
    fc.tuple(path, fc.integer({ min: -1, max: 4 }), text).map(
      ([at, line, lines]) =>
        (change: MemoryChange) =>
          insert(change, at, line, lines),
    ),
    path.map((at) => (change: MemoryChange) => remove(change, at)),
    fc.tuple(path, path).map(
      ([from, to]) =>
        (change: MemoryChange) =>
          rename(change, from, to),
    ),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 20 }), (decisions) => {
      let state = memory.initial;
      const log: MemoryEvent[] = [];
      decisions.forEach((decide, index) => {
        const decided = decide(by(`c${index}`));
        try {
          log.push(...decided(state));
        } catch (error) {
          expect(error).toMatchObject({ code: 'tool-call-refused' });
          return;
        }
        state = log.reduce<Memory>(memory.evolve, memory.initial);
        const paths = [...state.files.keys()];
        expect(paths.filter((each) => paths.some((other) => each.startsWith(`${other}/`)))).toEqual([]);
        expect(decided(state)).toEqual([]);
      });
    }),
    { numRuns: 300 },
  );
});
