import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import { turnSettings } from '../../../test/support/turn-settings.js';
import { as, ask, conversation, entitle, open, rate, remove, rename, watch } from './conversation.decider.js';
import { conclude, requestStop, seal, startTurn, takeOver } from './turn.decider.js';
import { pause } from './pause.decider.js';
import { type Conversation, isUnfinished } from './turn.policy.js';
import type { AnswerParts, ConversationEvent, ConversationStarted, TurnOutcome } from './conversation.events.js';

const conversationId = 'c1';
const settings = turnSettings({ agentId: 'a1', promptId: 'default' });
const start: ConversationStarted['data'] = {
  conversationId,
  ownerId: 'alice',
  agentId: 'a1',
  name: 'Why?',
  visibility: 'listed',
  sharedUsage: false,
  history: [],
};
const parts: AnswerParts = { answer: 'Because.', thought: '', sources: [], toolCalls: [], structured: false };
const question = (turnId: string, index: number | null = null) => ({
  conversationId,
  turnId,
  index,
  question: 'Why?',
  requestId: 'r',
  settings,
});

const started: ConversationEvent = { type: 'ConversationStarted', data: start };
const asked = (turnId: string, index = 0): ConversationEvent => ({ type: 'TurnAsked', data: { ...question(turnId), index } });
const taken = (turnId: string, producer = 'p1'): ConversationEvent => ({
  type: 'TurnStarted',
  data: { conversationId, turnId, producer },
});
const answered = (turnId: string): TurnOutcome => ({
  type: 'TurnAnswered',
  data: { conversationId, turnId, ...parts, modelId: 'offline', usage: null },
});
const stopped = (turnId: string): TurnOutcome => ({ type: 'TurnStopped', data: { conversationId, turnId, ...parts } });
const stopAsked = (turnId: string): ConversationEvent => ({ type: 'TurnStopRequested', data: { conversationId, turnId } });
const deleted: ConversationEvent = { type: 'ConversationDeleted', data: { conversationId } };
const sealed = { conversationId, turnId: 't1', lastId: 5, frames: 6, sha256: 'ab' };

describe('a question', () => {
  it('starts a conversation when it is the first one', () =>
    given(conversation, [])
      .when(ask(question('t1'), start))
      .then([started, asked('t1')]));
  it('is rejected where there is no conversation to continue', () =>
    given(conversation, [])
      .when(ask(question('t1'), null))
      .thenRejected('conversation-not-found'));
  it('is added once when it is repeated', () =>
    given(conversation, [started, asked('t1')])
      .when(ask(question('t1'), start))
      .thenNothing());
  it('is added after the earlier questions', () =>
    given(conversation, [started, asked('t1'), answered('t1')])
      .when(ask(question('t2'), null))
      .then([asked('t2', 1)]));
  it('replaces an earlier question and supersedes all turns from there, also one that is running', () =>
    given(conversation, [started, asked('t1'), answered('t1'), asked('t2', 1)])
      .when(ask(question('t3', 0), null))
      .then([stopAsked('t2'), { type: 'TurnsSuperseded', data: { conversationId, fromIndex: 0 } }, asked('t3', 0)]));
  it('is rejected when its index leaves a gap', () =>
    given(conversation, [started, asked('t1')])
      .when(ask(question('t2', 2), null))
      .thenRejected('index-out-of-range'));
  it('that must be the next one is rejected when another one was asked meanwhile', () => {
    given(conversation, [started, asked('t1')])
      .when(ask(question('t2', 0), null, true))
      .thenRejected('index-out-of-range');
    given(conversation, [started, asked('t1')])
      .when(ask(question('t2', 1), null, true))
      .then([asked('t2', 1)]);
  });
  it('is rejected in a deleted conversation', () =>
    given(conversation, [started, deleted])
      .when(ask(question('t1'), null))
      .thenRejected('conversation-not-found'));
  it('is rejected when it is repeated after its conversation was deleted', () =>
    given(conversation, [started, asked('t1'), answered('t1'), deleted])
      .when(ask(question('t1'), start))
      .thenRejected('conversation-not-found'));
});

describe('a turn', () => {
  it('is started by a producer', () =>
    given(conversation, [started, asked('t1')])
      .when(startTurn('t1', 'p1'))
      .then([taken('t1')]));
  it('is not started by a second producer', () =>
    given(conversation, [started, asked('t1'), taken('t1')])
      .when(startTurn('t1', 'p2'))
      .thenRejected('turn-taken'));
  it('ends once', () =>
    given(conversation, [started, asked('t1'), taken('t1'), answered('t1')])
      .when(conclude(stopped('t1')))
      .thenNothing());
  it('ends as stopped after a stop was requested, even if the answer is complete', () =>
    given(conversation, [started, asked('t1'), taken('t1'), stopAsked('t1')])
      .when(conclude(answered('t1')))
      .then([stopped('t1')]));
  it('keeps the usage of a complete answer when it ends as stopped', () => {
    const usage = { promptTokens: 9, completionTokens: 2 };
    const answer: TurnOutcome = { type: 'TurnAnswered', data: { conversationId, turnId: 't1', ...parts, modelId: 'm', usage } };
    given(conversation, [started, asked('t1'), taken('t1'), stopAsked('t1')])
      .when(conclude(answer))
      .then([{ type: 'TurnStopped', data: { conversationId, turnId: 't1', ...parts, usage } }]);
  });
  it('accepts an outcome from its current producer only', () => {
    given(conversation, [started, asked('t1'), taken('t1')])
      .when(conclude(answered('t1'), 'p1'))
      .then([answered('t1')]);
    given(conversation, [started, asked('t1'), taken('t1'), taken('t1', 'p2')])
      .when(conclude(answered('t1'), 'p1'))
      .thenRejected('turn-taken');
    given(conversation, [started, asked('t1'), taken('t1'), answered('t1')])
      .when(conclude(stopped('t1'), 'p2'))
      .thenNothing();
  });
  it('is taken over from a lost producer only while it is running with that producer', () => {
    const running = [started, asked('t1'), taken('t1')];
    given(conversation, running)
      .when(takeOver('t1', 'p1', 'p2'))
      .then([taken('t1', 'p2')]);
    given(conversation, running)
      .when(takeOver('t1', 'p1', 'p1'))
      .thenNothing();
    for (const since of [[taken('t1', 'p3')], [answered('t1')], [deleted]]) {
      given(conversation, [...running, ...since])
        .when(takeOver('t1', 'p1', 'p2'))
        .thenNothing();
    }
    given(conversation, [started, asked('t1')])
      .when(takeOver('t1', null, 'p2'))
      .thenNothing();
  });
  it('cannot be stopped after it has ended', () =>
    given(conversation, [started, asked('t1'), taken('t1'), answered('t1')])
      .when(requestStop('t1'))
      .thenRejected('message-not-running'));
  it('is sealed only after it has ended', () =>
    given(conversation, [started, asked('t1'), taken('t1')])
      .when(seal(sealed))
      .thenNothing());
  it('is sealed without an outcome when its conversation was deleted', () =>
    given(conversation, [started, asked('t1'), deleted])
      .when(seal(sealed))
      .then([{ type: 'TurnSealed', data: sealed }]));
  it('is sealed once', () =>
    given(conversation, [started, asked('t1'), taken('t1'), answered('t1'), { type: 'TurnSealed', data: sealed }])
      .when(seal(sealed))
      .thenNothing());
});

describe('a conversation', () => {
  const past = [started, asked('t1'), taken('t1'), answered('t1')];
  it('is renamed', () =>
    given(conversation, past)
      .when(rename('Reasons'))
      .then([{ type: 'ConversationRenamed', data: { conversationId, name: 'Reasons', by: 'owner' } }]));
  it('keeps the name that its owner gave it when a model suggests a title', () =>
    given(conversation, [...past, { type: 'ConversationRenamed', data: { conversationId, name: 'Mine', by: 'owner' } }])
      .when(entitle('Theirs'))
      .thenNothing());
  it('is opened when its owner has read an answer to its end, if it is listed and the turn has an outcome', () => {
    const opened: ConversationEvent = { type: 'ConversationOpened', data: { conversationId } };
    const hidden: ConversationEvent = { type: 'ConversationStarted', data: { ...start, visibility: 'hidden' } };
    const over = [asked('t1'), taken('t1'), answered('t1')];
    given(conversation, [started, ...over])
      .when(watch)
      .then([opened]);
    given(conversation, [started, asked('t1'), taken('t1')])
      .when(watch)
      .thenNothing();
    given(conversation, [hidden, ...over])
      .when(watch)
      .thenNothing();
  });
  it('is not opened when nothing is unread', () => given(conversation, [started]).when(open).thenNothing());
  it('records a rating of a turn', () =>
    given(conversation, past)
      .when(rate(0, 'like'))
      .then([{ type: 'TurnRated', data: { conversationId, turnId: 't1', feedback: 'like' } }]));
  it('accepts commands from the callers that it belongs to, and is not found for others', () => {
    const rating = rate(0, 'like');
    const begunWithKey: ConversationEvent = { type: 'ConversationStarted', data: { ...start, agentKeyId: 'key-1' } };
    given(conversation, [begunWithKey, ...past.slice(1)])
      .when(as({ agentId: 'a1', ownerId: 'alice' }, rating))
      .then([{ type: 'TurnRated', data: { conversationId, turnId: 't1', feedback: 'like' } }]);
    given(conversation, past)
      .when(as({ agentId: 'a1', ownerId: 'alice' }, rating))
      .thenRejected('conversation-not-found');
    given(conversation, [...past, deleted])
      .when(as({ userId: 'alice' }, rating))
      .thenRejected('conversation-not-found');
  });
  it('rejects a rating of an unknown turn', () =>
    given(conversation, past).when(rate(7, 'like')).thenRejected('message-not-found'));
  it('stops its running turns when it is deleted', () =>
    given(conversation, [started, asked('t1')])
      .when(remove)
      .then([stopAsked('t1'), deleted]));
  describe('after it was deleted', () => {
    const usage = { promptTokens: 100, completionTokens: 20 };
    const answer = { type: 'TurnAnswered', data: { ...answered('t1').data, answer: 'Secret.', usage } } as TurnOutcome;
    const used = { type: 'TurnStopped', data: { ...stopped('t1').data, answer: '', usage } } as TurnOutcome;
    const paused = {
      ...{ conversationId, turnId: 't1', ...parts, answer: 'Secret.', usage, calls: [], modelId: 'offline' },
      ...{ expiresAt: '2026-01-01T00:00:00Z', lastId: 3, continuation: { text: '{}' } },
    };

    it('records the usage of its running turn without texts, once', () => {
      const running = [started, asked('t1'), taken('t1', 'p1'), deleted];
      given(conversation, running).when(conclude(answer, 'p1')).then([used]);
      given(conversation, running).when(pause(paused, 'p1')).then([used]);
      given(conversation, [...running, used])
        .when(conclude(answer, 'p1'))
        .thenNothing();
    });
    it('records nothing of a turn without usage, of another producer or with a sealed journal', () => {
      const running = [started, asked('t1'), taken('t1', 'p1'), deleted];
      given(conversation, running)
        .when(conclude(answered('t1'), 'p1'))
        .thenNothing();
      given(conversation, running).when(conclude(answer, 'p2')).thenNothing();
      given(conversation, [...running, { type: 'TurnSealed', data: sealed }])
        .when(conclude(answer, 'p1'))
        .thenNothing();
    });
  });
});

it('for any sequence of decisions, a repeated decision adds no event, indexes have no gaps and no turn ends twice', () => {
  const id = fc.constantFrom('t1', 't2', 't3');
  const decision = fc.oneof(
    fc.tuple(id, fc.option(fc.nat(3))).map(([turnId, index]) => ask(question(turnId, index), start)),
    fc.tuple(id, fc.constantFrom('p1', 'p2')).map(([turnId, producer]) => startTurn(turnId, producer)),
    id.map((turnId) => requestStop(turnId)),
    id.map((turnId) => conclude(answered(turnId))),
    id.map((turnId) => seal({ ...sealed, turnId })),
    fc.constantFrom('A', 'B').map(rename),
    fc.constantFrom('A', 'B').map(entitle),
    fc.constant(open),
    fc.constant(remove),
    fc.tuple(fc.nat(2), fc.constantFrom('like', null)).map(([index, feedback]) => rate(index, feedback)),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 20 }), (decisions) => {
      let state: Conversation = conversation.initial;
      const ends = new Map<string, number>();
      for (const decide of decisions) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(conversation.evolve, state);
        for (const event of events) {
          if (event.type === 'TurnAnswered' || event.type === 'TurnStopped')
            ends.set(event.data.turnId, (ends.get(event.data.turnId) ?? 0) + 1);
        }
        expect(decide(state)).toEqual([]);
      }
      const counting = [...state.turns.values()].filter((turn) => !turn.superseded).map((turn) => turn.index);
      expect(counting).toEqual([...counting.keys()]);
      for (const [turnId, count] of ends) expect([count, isUnfinished(state.turns.get(turnId)!)]).toEqual([1, false]);
    }),
    { numRuns: 500 },
  );
});
