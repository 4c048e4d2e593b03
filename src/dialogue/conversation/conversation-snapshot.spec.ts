import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { AnyConversation } from '../../../test/support/any-conversation.js';
import { Seeded } from '../../../test/support/seeded.js';
import { conversation } from './conversation.decider.js';
import type { ConversationEvent, NotedWork } from './conversation.events.js';
import {
  CALL_IDS_CHARACTERS_MAX,
  newestThatFit,
  SNAPSHOT_BYTES_MAX,
  SNAPSHOT_EVERY_EVENTS,
  snapshotIfDue,
  WORKS_ENDED_MAX,
} from './conversation-snapshot.policy.js';
import { markOf } from './conversation-mark.policy.js';
import { type Conversation, countingTurnAt, type Turn } from './turn.policy.js';

const CONVERSATIONS = 25;
const STEPS = 300;

/** All events, the state with snapshots (`state`) and the state that was folded without them (`whole`). */
type Course = Readonly<{ whole: Conversation; state: Conversation; events: readonly ConversationEvent[] }>;

function* courses(): Generator<Course> {
  for (let seed = 0; seed < CONVERSATIONS; seed++) {
    const any = new AnyConversation('c1', new Seeded(seed));
    const events: ConversationEvent[] = [];
    let whole = conversation.initial;
    for (let step = 0; step < STEPS; step++) {
      for (const event of any.step()) {
        events.push(event);
        if (event.type !== 'ConversationSnapshotTaken') whole = conversation.evolve(whole, event);
      }
      yield { whole, state: any.state, events };
    }
  }
}

describe('a conversation that takes snapshots', () => {
  it('has the same state as one that folds all its events', () => {
    let snapshots = 0;
    for (const { whole, state, events } of courses()) {
      if (events.at(-1)?.type === 'TurnAsked') snapshots += Number(events.at(-2)?.type === 'ConversationSnapshotTaken');
      expect(markOf(state)).toBe(markOf(whole));
      const { status, name, namedBy, nextIndex, unopened, automaticTurnsInARow, callIds } = whole;
      expect(state).toMatchObject({ status, name, namedBy, nextIndex, unopened, automaticTurnsInARow, callIds });
      for (const [turnId, turn] of state.turns) {
        const known = whole.turns.get(turnId)!;
        // A snapshot marks a failure as seen that a later question hides.
        const remembered = { ...known, unseen: turn.unseen };
        if (!isDeepStrictEqual(turn, remembered)) expect(turn).toEqual(remembered);
      }
      const forgotten = [...whole.turns].filter(([turnId, { sealed }]) => !sealed && !state.turns.has(turnId));
      expect(forgotten).toEqual([]);
    }
    expect(snapshots).toBeGreaterThan(CONVERSATIONS);
  });

  it('has the same state folded from its newest snapshot as from its beginning', () => {
    let last: Course | undefined;
    for (const course of courses()) {
      if (last && course.events !== last.events) expectSameFromSnapshot(last);
      last = course;
    }
  });

  it('takes snapshots of a bounded size, regularly', () => {
    let largest = 0;
    for (const { state, events } of courses()) {
      const taken = events.findLast(({ type }) => type === 'ConversationSnapshotTaken');
      if (taken) largest = Math.max(largest, Buffer.byteLength(JSON.stringify(taken.data)));
      expect(state.eventsSinceSnapshot).toBeLessThan(20 * SNAPSHOT_EVERY_EVENTS);
    }
    expect(largest).toBeGreaterThan(0);
    expect(largest).toBeLessThanOrEqual(SNAPSHOT_BYTES_MAX);
  });

  it('takes no snapshot that is too large and none while a turn is paused', () => {
    const due: Conversation = { ...conversation.initial, id: 'c1', status: 'open', eventsSinceSnapshot: SNAPSHOT_EVERY_EVENTS };
    expect(snapshotIfDue(due)).toHaveLength(1);
    expect(snapshotIfDue({ ...due, eventsSinceSnapshot: SNAPSHOT_EVERY_EVENTS - 1 })).toEqual([]);
    expect(snapshotIfDue({ ...due, name: 'n'.repeat(SNAPSHOT_BYTES_MAX) })).toEqual([]);
    for (const { state } of courses()) {
      const isPaused = [...state.turns.values()].some(({ status }) => status === 'paused');
      if (isPaused) return expect(snapshotIfDue({ ...state, eventsSinceSnapshot: SNAPSHOT_EVERY_EVENTS })).toEqual([]);
    }
    throw new Error('No turn was paused.');
  });

  it('keeps in a snapshot, of the sealed turns, only the first unseen answer and an unseen failure that is the newest', () => {
    const carried = (...turns: Partial<Turn>[]) => {
      const numbered = turns.map((turn, index) => [`t${index}`, { sealed: true, unseen: true, index, ...turn } as Turn] as const);
      const state = { ...conversation.initial, status: 'open', turns: new Map(numbered), nextIndex: turns.length } as const;
      return snapshotIfDue({ ...state, eventsSinceSnapshot: SNAPSHOT_EVERY_EVENTS })[0]!.data.turns.map(({ turnId }) => turnId);
    };
    const answered = { status: 'answered' } as const;
    const failed = { status: 'failed' } as const;
    expect(carried(failed, { ...answered, unseen: false }, answered, answered)).toEqual(['t2']);
    expect(carried({ ...answered, sealed: false, unseen: false }, failed, failed)).toEqual(['t0', 't2']);
    expect(carried(failed, answered, { ...failed, unseen: false })).toEqual(['t1']);
    expect(carried({ ...answered, index: 1 }, { ...answered, index: 0 })).toEqual(['t1']);
  });

  it('keeps in a snapshot only the newest call ids and the newest work that has ended', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `call-${String(index).padStart(11, '0')}`);
    const kept = newestThatFit(ids);
    expect(kept).toEqual(ids.slice(-CALL_IDS_CHARACTERS_MAX / 16));
    const over = { kind: 'job', status: 'over', asOf: 1, unseen: false } as const;
    const worksIn = (works: Conversation['works']) =>
      snapshotIfDue({ ...conversation.initial, status: 'open', works, eventsSinceSnapshot: SNAPSHOT_EVERY_EVENTS })[0]!.data
        .works;
    expect(worksIn(new Map(ids.map((id) => [id, over]))).map(({ id }) => id)).toEqual(ids.slice(-WORKS_ENDED_MAX));
    const unseen = new Map<string, NotedWork>(ids.map((id) => [id, { ...over, unseen: true }]));
    const failed = { ...over, status: 'failed', unseen: true } as const;
    for (const id of ids.slice(0, 2)) unseen.set(id, failed);
    expect(worksIn(unseen).map(({ id }) => id)).toEqual([ids[1], ...ids.slice(-WORKS_ENDED_MAX)]);
  });
});

function expectSameFromSnapshot({ events, state }: Course): void {
  const from = events.findLastIndex(({ type }) => type === 'ConversationSnapshotTaken');
  if (from < 0) return;
  const folded = events.slice(from).reduce(conversation.evolve, conversation.initial);
  expect(folded).toEqual(state);
  for (let index = 0; index < state.nextIndex; index++) {
    expect(countingTurnAt(folded, index)?.[0]).toBe(countingTurnAt(state, index)?.[0]);
  }
}
