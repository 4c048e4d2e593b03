import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { waitingCall, turnPaused } from '../../test/support/pauses.js';
import { projecting } from '../../test/support/projecting.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { Seeded } from '../../test/support/seeded.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { ask, conclude, conversation, open, remove, startTurn } from '../../src/dialogue/conversation/conversation.decider.js';
import {
  type ConversationEvent,
  conversationStream,
  type PauseType,
} from '../../src/dialogue/conversation/conversation.events.js';
import {
  type Mark,
  type Marked,
  markOf,
  unmarked,
  withMarkChangedBy,
} from '../../src/dialogue/conversation/conversation-mark.policy.js';
import { noteWork } from '../../src/dialogue/conversation/background-work.decider.js';
import { append } from '../../src/dialogue/conversation/turn-additions.decider.js';
import { askAutomatically } from '../../src/dialogue/conversation/automatic-turn.decider.js';
import { expire, requeue, pause, resume } from '../../src/dialogue/conversation/pause.decider.js';
import type { Conversation, Decide } from '../../src/dialogue/conversation/turn.policy.js';
import { Rejection } from '../../src/kernel/rejection.js';
import { ReadModels } from '../read-models.js';
import { conversations } from './conversations.projection.js';
import { ConversationQueries } from './conversations.queries.js';

const CONVERSATIONS = 60;
const STEPS = 40;
const MARKS: readonly (Mark | null)[] = ['failed', 'approval', 'running', 'unread', 'monitor', null];
const ELSEWHERE = {
  ...{ modelId: 'm', lastId: 5, frames: 6, sha256: 'ab' },
  origin: { kind: 'schedule', scheduleId: 's', runId: 'r', scheduledFor: '2026-01-01T00:00:00.000Z' },
} as const;
const [BEFORE, AFTER] = [new Date('2026-01-01'), new Date('2027-01-01')];

/** A conversation in which anything may happen, in any order that its rules allow. */
class AnyConversation {
  private state: Conversation = conversation.initial;
  private readonly turnIds: string[] = [];
  marked: Marked = unmarked;

  constructor(
    readonly id: string,
    private readonly random: Seeded,
  ) {}

  /** What happens next; nothing when the rules forbid what was tried. */
  step(): readonly ConversationEvent[] {
    const decide = this.anything();
    let events: readonly ConversationEvent[];
    try {
      events = decide(this.state);
    } catch (error) {
      if (error instanceof Rejection) return [];
      throw error;
    }
    this.state = events.reduce(conversation.evolve, this.state);
    this.marked = events.reduce(withMarkChangedBy, this.marked);
    return events;
  }

  private anything(): Decide {
    const { random } = this;
    if (this.turnIds.length === 0) return this.question(null);
    const turnId = this.turnIds[random.between(0, this.turnIds.length - 1)]!;
    const about = { conversationId: this.id, turnId };
    const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false };
    const choices: readonly (() => Decide)[] = [
      () => this.question(null),
      () => this.question(random.between(0, this.state.nextIndex)),
      () => open,
      () => startTurn(turnId, 'p'),
      () => startTurn(turnId, 'p'),
      () => pause(turnPaused(about, this.calls()).data, 'p'),
      () => pause(turnPaused(about, this.calls()).data, 'p'),
      () => pause(turnPaused(about, this.calls()).data, 'p'),
      () => resume([{ callId: 'k0', decision: 'denied', comment: null }], { userId: 'carol' }, BEFORE),
      () => requeue(turnId, 'p'),
      () => expire(turnId, random.oneIn(2) ? BEFORE : AFTER),
      () => conclude({ type: 'TurnAnswered', data: { ...about, ...parts, modelId: 'm', usage: null } }),
      () => conclude({ type: 'TurnFailed', data: { ...about, ...parts, error: 'No.', code: null } }),
      () => conclude({ type: 'TurnStopped', data: { ...about, ...parts } }),
      () =>
        askAutomatically(
          { ...this.asking(this.newTurn()), origin: { kind: 'follow-up', source: 'job', refId: 'j', dedupeKey: 'd' } },
          'carol',
        ),
      () => conclude({ type: 'TurnAnswered', data: { ...about, ...parts, answer: '', modelId: 'm', usage: null } }),
      () => append({ ...this.asking(this.newTurn()), ...parts, ...ELSEWHERE }, 'carol'),
      () => this.work(),
      () => this.work(),
      () => (random.oneIn(10) ? remove : open),
    ];
    return choices[random.between(0, choices.length - 1)]!();
  }

  private question(index: number | null): Decide {
    const started = {
      conversationId: this.id,
      ownerId: 'carol',
      agentId: null,
      name: 'Any',
      visibility: 'listed',
      sharedUsage: false,
      history: [],
    } as const;
    return ask({ ...this.asking(this.newTurn()), index }, started);
  }

  private newTurn(): string {
    const turnId = `${this.id}-${this.turnIds.length}`;
    this.turnIds.push(turnId);
    return turnId;
  }

  private asking(turnId: string) {
    return { conversationId: this.id, turnId, question: 'Why?', requestId: 'r', settings: turnSettings() };
  }

  private work(): Decide {
    const kind = this.random.oneIn(2) ? 'job' : 'monitor';
    const id = `${kind} ${this.random.between(0, 1)} of ${this.id}`;
    const statuses = kind === 'job' ? (['active', 'over', 'failed'] as const) : (['active', 'over', 'over'] as const);
    const status = statuses[this.random.between(0, 2)]!;
    const asOf = (this.state.workNoted.get(id) ?? -1) + 1;
    return noteWork({ conversationId: this.id, work: { kind, id }, status, asOf });
  }

  private calls() {
    const types: readonly PauseType[] = ['awaiting_approval', 'requires_client_execution'];
    return Array.from({ length: this.random.between(1, 2) }, (_, at) => waitingCall(`k${at}`, types[this.random.between(0, 1)]));
  }
}

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(conversations, database.sql);
});
afterAll(() => database.close());

it('the listing says of every conversation what is told of it to open tabs, whatever happens in it', async () => {
  const queries = new ConversationQueries(new ReadModels(database.sql));
  const all = Array.from({ length: CONVERSATIONS }, (_, index) => new AnyConversation(`c${index}`, new Seeded(index)));
  const seen = new Set<Mark | null>();
  for (let step = 0; step < STEPS; step++) {
    for (const each of all) {
      const events = each.step();
      if (events.length > 0) await model.given(conversationStream(each.id), events);
    }
    const listed = new Map((await queries.listed('carol', CONVERSATIONS)).map(({ id, mark }) => [id, mark]));
    for (const { id, marked } of all) {
      const mark = markOf(marked);
      seen.add(mark);
      expect({ id, step, mark: listed.get(id) ?? null }).toEqual({ id, step, mark });
    }
    const needing = (await queries.needingAttention('carol', CONVERSATIONS)).map(({ id }) => id);
    const urgent = [...listed].filter(([, mark]) => mark === 'failed' || mark === 'approval').map(([id]) => id);
    expect(needing).toEqual(urgent);
  }
  expect([...seen].sort()).toEqual([...MARKS].sort());
  await model.expectSameAfterRebuild();
});
