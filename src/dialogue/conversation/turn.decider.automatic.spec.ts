import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import { turnPaused, turnUnresumed, waitingCall } from '../../../test/support/pauses.js';
import { turnSettings } from '../../../test/support/turn-settings.js';
import { append, noteWork } from './additions.decider.js';
import { ask, conversation, open, rate, remove } from './conversation.decider.js';
import { conclude, requestStop, startTurn, askAutomatically, statusOf, FOLLOW_UPS_IN_A_ROW_MAX } from './turn.decider.js';
import type { ConversationEvent, TurnAppended, TurnOutcome } from './conversation.events.js';
import type { Conversation } from './turn.policy.js';

const conversationId = 'c1';
const settings = turnSettings();
const origin = { kind: 'follow-up', source: 'job', refId: 'j1', dedupeKey: 'job:j1' } as const;
const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false };
const question = (turnId: string) => ({ conversationId, turnId, question: 'What?', requestId: 'r', settings });
const start = {
  conversationId,
  ownerId: 'alice',
  agentId: null,
  name: 'N',
  visibility: 'listed',
  sharedUsage: false,
  history: [],
} as const;
const started: ConversationEvent = { type: 'ConversationStarted', data: start };
const asked = (turnId: string, index: number): ConversationEvent => ({ type: 'TurnAsked', data: { ...question(turnId), index } });
const automatic = (turnId: string, index: number): ConversationEvent => ({
  type: 'TurnAsked',
  data: { ...question(turnId), origin, index },
});
const taken = (turnId: string): ConversationEvent => ({ type: 'TurnStarted', data: { conversationId, turnId, producer: 'p' } });
const answered = (turnId: string, answer = 'So.'): TurnOutcome => ({
  type: 'TurnAnswered',
  data: { conversationId, turnId, ...parts, answer, modelId: 'm', usage: null },
});
const withdrawn = (turnId: string): ConversationEvent => ({ type: 'TurnWithdrawn', data: { conversationId, turnId } });
const deleted: ConversationEvent = { type: 'ConversationDeleted', data: { conversationId } };
const going = (turnId: string, ownerId = 'alice') => askAutomatically({ ...question(turnId), origin }, ownerId);
const past = [started, asked('t1', 0), taken('t1'), answered('t1')];
const inARow = (count: number): ConversationEvent[] =>
  Array.from({ length: count }, (_, at) => [automatic(`w${at}`, at + 1), taken(`w${at}`), answered(`w${at}`)]).flat();

const added: Omit<TurnAppended['data'], 'index'> = {
  ...{ ...question('s1'), ...parts, modelId: 'm', lastId: 5, frames: 6, sha256: 'ab' },
  origin: { kind: 'schedule', scheduleId: 's', runId: 'r', scheduledFor: '2026-01-01T00:00:00.000Z' },
};
const appended = (index: number): ConversationEvent => ({ type: 'TurnAppended', data: { ...added, index } });

describe('a conversation', () => {
  it('accepts an automatic turn when no other turn is running', () =>
    given(conversation, past)
      .when(going('w1'))
      .then([automatic('w1', 1)]));
  it('accepts the same automatic turn once', () =>
    given(conversation, [...past, automatic('w1', 1), taken('w1'), answered('w1')])
      .when(going('w1'))
      .thenNothing());
  it('accepts no automatic turn while a turn is running or paused', () => {
    const about = { conversationId, turnId: 't2' };
    const running = [...past, asked('t2', 1), taken('t2')];
    for (const since of [[...past, asked('t2', 1)], running, [...running, turnPaused(about, [waitingCall('k1')])]]) {
      given(conversation, since).when(going('w1')).thenNothing();
      expect(statusOf(since.reduce(conversation.evolve, conversation.initial), 'alice', 'w1')).toBe('busy');
    }
    given(conversation, [...running, turnPaused(about, [waitingCall('k1')]), ...turnUnresumed(about, 'expired', 'k1')])
      .when(going('w1'))
      .then([automatic('w1', 2)]);
  });
  it('accepts no automatic turn when it is deleted, unknown or another user’s', () => {
    given(conversation, [...past, deleted])
      .when(going('w1'))
      .thenNothing();
    given(conversation, past).when(going('w1', 'mallory')).thenNothing();
    given(conversation, []).when(going('w1')).thenNothing();
  });
  it('accepts a bounded number of automatic turns in a row, and more after its user has asked', () => {
    given(conversation, [...past, ...inARow(FOLLOW_UPS_IN_A_ROW_MAX - 1)])
      .when(going('last'))
      .then([automatic('last', FOLLOW_UPS_IN_A_ROW_MAX)]);
    const tooOften = [...past, ...inARow(FOLLOW_UPS_IN_A_ROW_MAX)];
    given(conversation, tooOften).when(going('more')).thenNothing();
    given(conversation, [...tooOften, appended(FOLLOW_UPS_IN_A_ROW_MAX + 1)])
      .when(going('more'))
      .thenNothing();
    const state = tooOften.reduce(conversation.evolve, conversation.initial);
    expect(statusOf(state, 'alice', 'more')).toBe('too-many-in-a-row');
    const next = FOLLOW_UPS_IN_A_ROW_MAX + 1;
    const askedSince = [...tooOften, asked('t2', next), taken('t2'), answered('t2')];
    expect(statusOf(askedSince.reduce(conversation.evolve, conversation.initial), 'alice', 'more')).toBe('free');
  });
});

describe('an automatic turn', () => {
  const running = [...past, { type: 'ConversationOpened', data: { conversationId } } as const, automatic('w1', 1), taken('w1')];
  it('ends like any other turn when its answer has text', () =>
    given(conversation, running)
      .when(conclude(answered('w1')))
      .then([answered('w1')]));
  it('is withdrawn when its answer is empty or NO_REPLY, and leaves nothing unread', () => {
    for (const answer of ['NO_REPLY', ' NO_REPLY\n', ''])
      given(conversation, running)
        .when(conclude(answered('w1', answer)))
        .then([withdrawn('w1'), answered('w1', answer)]);
    given(conversation, [...running, withdrawn('w1'), answered('w1', '')])
      .when(open)
      .thenNothing();
    given(conversation, [...running, withdrawn('w1'), answered('w1', '')])
      .when(ask({ ...question('t2'), index: null }, null))
      .then([asked('t2', 1)]);
  });
  it('counts towards the limit in a row also when it was withdrawn', () => {
    const silent = Array.from({ length: FOLLOW_UPS_IN_A_ROW_MAX }, (_, at) => [
      automatic(`w${at}`, 1),
      taken(`w${at}`),
      withdrawn(`w${at}`),
      answered(`w${at}`, ''),
    ]);
    given(conversation, [...past, ...silent.flat()])
      .when(going('more'))
      .thenNothing();
  });
  it('frees its index for later questions when it is withdrawn', () =>
    given(conversation, [...running, asked('t2', 2), withdrawn('w1'), answered('w1', ''), taken('t2'), answered('t2')])
      .when(ask({ ...question('t3'), index: null }, null))
      .then([asked('t3', 2)]));
  it('moves the question after it up by one index when it is withdrawn', () =>
    given(conversation, [...running, asked('t2', 2), withdrawn('w1'), answered('w1', ''), taken('t2'), answered('t2')])
      .when(rate(1, 'like'))
      .then([{ type: 'TurnRated', data: { conversationId, turnId: 't2', feedback: 'like' } }]));
  it('is not withdrawn where its user stopped it or another question superseded it', () => {
    const stopped = [...running, { type: 'TurnStopRequested', data: { conversationId, turnId: 'w1' } } as const];
    given(conversation, stopped)
      .when(conclude(answered('w1', '')))
      .then([{ type: 'TurnStopped', data: { conversationId, turnId: 'w1', ...parts, answer: '' } }]);
    const replaced = { type: 'TurnsSuperseded', data: { conversationId, fromIndex: 1, turnIds: ['w1'] } } as const;
    given(conversation, [...running, replaced, asked('t2', 1)])
      .when(conclude(answered('w1', '')))
      .then([answered('w1', '')]);
  });
});

it('the answer NO_REPLY to a question of a user is kept', () =>
  given(conversation, [started, asked('t1', 0), taken('t1')])
    .when(conclude(answered('t1', 'NO_REPLY')))
    .then([answered('t1', 'NO_REPLY')]));

describe('an appended turn', () => {
  it('becomes the last turn', () =>
    given(conversation, past)
      .when(append(added, 'alice'))
      .then([appended(1)]));
  it('is appended once', () =>
    given(conversation, [...past, appended(1)])
      .when(append(added, 'alice'))
      .thenNothing());
  it('is not appended to a conversation that is deleted or another user’s', () => {
    given(conversation, past).when(append(added, 'mallory')).thenNothing();
    given(conversation, [...past, deleted])
      .when(append(added, 'alice'))
      .thenNothing();
  });
  it('leaves a running turn before it as it is', () =>
    given(conversation, [...past, asked('t2', 1)])
      .when(append(added, 'alice'))
      .then([appended(2)]));
  it('is unread until the conversation is opened', () =>
    given(conversation, [...past, { type: 'ConversationOpened', data: { conversationId } }, appended(1)])
      .when(open)
      .then([{ type: 'ConversationOpened', data: { conversationId } }]));
});

describe('background work of a conversation', () => {
  const noted = (asOf: number, status: 'active' | 'over' | 'failed') => ({
    ...{ conversationId, asOf, status },
    work: { kind: 'job', id: 'j1' } as const,
  });
  const event = (asOf: number, status: 'active' | 'over' | 'failed'): ConversationEvent => ({
    type: 'BackgroundWorkNoted',
    data: noted(asOf, status),
  });
  const opened: ConversationEvent = { type: 'ConversationOpened', data: { conversationId } };
  it('is recorded with its newest status, and an older status is ignored', () => {
    given(conversation, past)
      .when(noteWork(noted(0, 'active')))
      .then([event(0, 'active')]);
    given(conversation, [...past, event(0, 'active'), event(2, 'over')])
      .when(noteWork(noted(0, 'active')))
      .thenNothing();
    given(conversation, [...past, deleted])
      .when(noteWork(noted(0, 'active')))
      .thenNothing();
  });
  it('is unread once it has failed, and not before', () => {
    given(conversation, [...past, opened, event(0, 'active')])
      .when(open)
      .thenNothing();
    given(conversation, [...past, opened, event(0, 'active'), event(1, 'failed')])
      .when(open)
      .then([opened]);
  });
});

it('for any sequence of decisions, a repeated decision adds no event and indexes have no gaps', () => {
  const id = fc.constantFrom('t1', 't2', 't3');
  const followUpId = fc.constantFrom('w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7');
  const either = fc.oneof(id, followUpId);
  const decision = fc.oneof(
    fc.tuple(id, fc.option(fc.nat(5))).map(([turnId, index]) => ask({ ...question(turnId), index }, start)),
    followUpId.map((turnId) => going(turnId)),
    fc.constantFrom('s1', 's2').map((turnId) => append({ ...added, turnId }, 'alice')),
    fc
      .tuple(fc.nat(5), fc.constantFrom<'active' | 'over' | 'failed'>('active', 'over', 'failed'))
      .map(([asOf, status]) => noteWork({ conversationId, work: { kind: 'job', id: 'j1' }, status, asOf })),
    either.map((turnId) => startTurn(turnId, 'p')),
    either.map((turnId) => requestStop(turnId)),
    fc.tuple(either, fc.constantFrom('', 'NO_REPLY', 'So.')).map(([turnId, answer]) => conclude(answered(turnId, answer))),
    fc.oneof({ weight: 9, arbitrary: fc.constant(open) }, { weight: 1, arbitrary: fc.constant(remove) }),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 40 }), (decisions) => {
      let state: Conversation = conversation.initial;
      for (const decide of decisions) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(conversation.evolve, state);
        expect(decide(state)).toEqual([]);
        const counting = [...state.turns.values()].filter(({ superseded }) => !superseded).map(({ index }) => index);
        expect(counting.sort((one, other) => one - other)).toEqual([...counting.keys()]);
        expect(state.nextIndex).toBe(counting.length);
      }
    }),
    { numRuns: 1000 },
  );
});
