import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../../test/support/given.js';
import {
  insert,
  NOTE_BYTES_MAX,
  notes,
  type Notes,
  type NotesChange,
  overwrite,
  remove,
  removeLines,
  replace,
} from './notes.decider.js';
import type { NotesEvent } from './notes.events.js';

const now = new Date('2026-01-01T00:00:00.000Z');
const at = now.toISOString();
const by = (callId: string): NotesChange => ({
  notesId: 'n1',
  ownerId: 'alice',
  agentId: 'a1',
  call: { turnId: 't1', callId },
  now,
});
const about = (callId: string) => ({ notesId: 'n1', call: { turnId: 't1', callId }, at });
const started: NotesEvent = { type: 'NotesStarted', data: { notesId: 'n1', ownerId: 'alice', agentId: 'a1' } };
const saying = (content: string): NotesEvent => ({ type: 'NoteOverwritten', data: { ...about('first'), content } });
const edited = (edit: { at: number; removed: string; inserted: string }): NotesEvent => ({
  type: 'NoteEdited',
  data: { ...about('c'), edit },
});
const after = (events: readonly NotesEvent[]) => events.reduce<Notes>(notes.evolve, notes.initial);

describe('notes', () => {
  it('start with their first text', () =>
    given(notes, [])
      .when(overwrite(by('c'), 'Tea.'))
      .then([started, { type: 'NoteOverwritten', data: { ...about('c'), content: 'Tea.' } }]));
  it('are changed where a text occurs exactly once', () =>
    given(notes, [started, saying('Tea at four.')])
      .when(replace(by('c'), 'four', 'five'))
      .then([edited({ at: 7, removed: 'four', inserted: 'five' })]));
  it.each([
    [0, 'a\nb', 0, 'x\n'],
    [1, 'a\nb', 2, 'x\n'],
    [2, 'a\nb', 3, '\nx'],
    [2, 'a\nb\n', 4, 'x'],
    [0, '', 0, 'x'],
  ])('insert a line after line %d of %j', (line, content, at, inserted) =>
    given(notes, [started, saying(content)])
      .when(insert(by('c'), line, 'x'))
      .then([edited({ at, removed: '', inserted })]),
  );
  it('lose the given lines', () => {
    given(notes, [started, saying('a\nb\nc')])
      .when(removeLines(by('c'), 2, 2))
      .then([edited({ at: 2, removed: 'b\n', inserted: '' })]);
    given(notes, [started, saying('a\nb\nc')])
      .when(removeLines(by('c'), 2, 3))
      .then([edited({ at: 2, removed: 'b\nc', inserted: '' })]);
    for (const [first, last] of [
      [0, 1],
      [2, 1],
      [1, 4],
      [1.5, 2],
    ] as const) {
      expect(() => removeLines(by('c'), first, last)(after([started, saying('a\nb\nc')]))).toThrow(/3 lines/);
    }
  });
  it('are deleted once and can be written again', () => {
    const gone = [started, saying('a'), { type: 'NoteDeleted', data: about('gone') } satisfies NotesEvent];
    given(notes, gone)
      .when(remove(by('c')))
      .thenNothing();
    given(notes, gone)
      .when(replace(by('c'), 'a', 'b'))
      .thenRejected('tool-call-refused');
    given(notes, gone)
      .when(overwrite(by('c'), 'b'))
      .then([{ type: 'NoteOverwritten', data: { ...about('c'), content: 'b' } }]);
  });
  it('do not change when the same text is written or edited in again', () => {
    given(notes, [started, saying('Tea.')])
      .when(overwrite(by('c'), 'Tea.'))
      .thenNothing();
    given(notes, [started, saying('Tea.')])
      .when(replace(by('c'), 'Tea', 'Tea'))
      .thenNothing();
  });
  it('have a maximum size', () => {
    const most = 'é'.repeat(NOTE_BYTES_MAX / 2);
    expect(overwrite(by('c'), most)(after([started]))).toHaveLength(1);
    expect(() => overwrite(by('c'), `${most}.`)(after([started]))).toThrow(/262144 bytes at most/);
    expect(() => insert(by('c'), 0, '.')(after([started, saying(most)]))).toThrow(/262144 bytes at most/);
  });
  it('are not changed twice by one call', () =>
    given(notes, [started, saying('a'), { type: 'NoteOverwritten', data: { ...about('later'), content: 'b' } }])
      .when(overwrite({ ...by('first'), now: new Date() }, 'a'))
      .thenNothing());
});

it('a repeated change appends nothing, and every edit removes text that was there', () => {
  const text = fc.constantFrom('', 'x', 'y\n', 'x\ny\nz', 'xx');
  const line = fc.integer({ min: -1, max: 4 });
  const decision = fc.oneof(
    text.map((content) => (change: NotesChange) => overwrite(change, content)),
    fc.tuple(text, text).map(
      ([old, next]) =>
        (change: NotesChange) =>
          replace(change, old, next),
    ),
    fc.tuple(line, text).map(
      ([after, lines]) =>
        (change: NotesChange) =>
          insert(change, after, lines),
    ),
    fc.tuple(line, line).map(
      ([first, last]) =>
        (change: NotesChange) =>
          removeLines(change, first, last),
    ),
    fc.constant(remove),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 20 }), (decisions) => {
      let state = notes.initial;
      decisions.forEach((decide, index) => {
        const decided = decide(by(`c${index}`));
        let events: readonly NotesEvent[];
        try {
          events = decided(state);
        } catch (error) {
          expect(error).toMatchObject({ code: 'tool-call-refused' });
          return;
        }
        for (const event of events) {
          if (event.type === 'NoteEdited') {
            const { at, removed } = event.data.edit;
            expect(state.content?.slice(at, at + removed.length)).toBe(removed);
          }
          state = notes.evolve(state, event);
        }
        if (events.length > 0) expect(decided(state)).toEqual([]);
      });
    }),
    { numRuns: 300 },
  );
});
