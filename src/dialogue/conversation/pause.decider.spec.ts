import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import {
  aboutTurn,
  approved,
  asked,
  callOf,
  conversationId,
  deleted,
  finished,
  paused,
  question,
  resumed,
  started,
  stopAsked,
  taken,
  WAITING,
} from '../../../test/support/paused-conversations.js';
import { CLOCKS_APART_MS_MAX } from '../../kernel/clocks-apart.js';
import { PAUSE_EXPIRES_AT, turnUnresumed } from '../../../test/support/pauses.js';
import type { Party } from './conversation-access.policy.js';
import { ask, conversation, remove } from './conversation.decider.js';
import { conclude, requestStop, requeue, seal, startTurn } from './turn.decider.js';
import type { TurnOutcome } from './conversation.events.js';
import { type CallAnswer, expire, finishCall, pause, resume, startCall } from './pause.decider.js';
import type { Conversation, Decide } from './turn.policy.js';

const BEFORE = new Date(Date.parse(PAUSE_EXPIRES_AT) - 1);
const THEN = new Date(PAUSE_EXPIRES_AT);
const alice: Party = { userId: 'alice' };
const key: Party = { agentId: 'a1', ownerId: 'alice' };
const approve = (callId: string): CallAnswer => ({ callId, decision: 'approved' });
const deny = (callId: string, comment: string | null = null): CallAnswer => ({ callId, decision: 'denied', comment });
const bring = (callId: string, result = '"red"'): CallAnswer => ({ callId, result });

describe('a resumption', () => {
  it('decides on all calls and resumes the turn', () =>
    given(conversation, WAITING)
      .when(resume([deny('k2', 'too long'), approve('k1')], alice, BEFORE))
      .then([
        approved('t1', 'k1'),
        { type: 'ToolCallDenied', data: { ...aboutTurn('t1'), callId: 'k2', comment: 'too long', notRun: null } },
        resumed('t1'),
      ]));
  it('records the usage of the checks of its answers', () => {
    const usage = { promptTokens: 7, completionTokens: 1 };
    given(conversation, WAITING)
      .when(resume([approve('k1'), approve('k2')], alice, BEFORE, { checkUsage: usage }))
      .then([approved('t1', 'k1'), approved('t1', 'k2'), resumed('t1', usage)]);
  });
  it('denies the calls that it does not mention', () =>
    given(conversation, WAITING)
      .when(resume([approve('k2')], alice, BEFORE))
      .then([
        { type: 'ToolCallDenied', data: { ...aboutTurn('t1'), callId: 'k1', comment: null, notRun: 'no_response' } },
        approved('t1', 'k2'),
        resumed('t1'),
      ]));
  it('records the result of a call that the client ran', () =>
    given(conversation, [...WAITING.slice(0, 3), paused('t1', ['k1', 'requires_client_execution'])])
      .when(resume([bring('k1')], alice, BEFORE))
      .then([{ type: 'ToolCallAnswered', data: { ...aboutTurn('t1'), callId: 'k1', result: '"red"' } }, resumed('t1')]));
  it('may deny a call that the client would run', () =>
    given(conversation, [...WAITING.slice(0, 3), paused('t1', ['k1', 'requires_client_execution'])])
      .when(resume([deny('k1')], alice, BEFORE))
      .then([
        { type: 'ToolCallDenied', data: { ...aboutTurn('t1'), callId: 'k1', comment: null, notRun: null } },
        resumed('t1'),
      ]));
  it.each([
    ['a result for a call that waits for approval', ['k1', 'awaiting_approval'], bring('k1')],
    ['an approval of a call that the client runs', ['k1', 'requires_client_execution'], approve('k1')],
  ] as const)('is rejected with %s', (_, call, answer) =>
    given(conversation, [...WAITING.slice(0, 3), paused('t1', [...call], ['k2'])])
      .when(resume([approve('k2'), answer], alice, BEFORE))
      .thenRejected('invalid-request'),
  );
  it.each([
    ['somebody else', { userId: 'bob' }],
    ['a key of another agent', { agentId: 'a2', ownerId: 'alice' }],
    ['a key of the agent, of another owner', { agentId: 'a1', ownerId: 'bob' }],
    ['a key of the agent where its owner asked', key],
  ])('is rejected as not found for %s', (_, by) => {
    given(conversation, WAITING)
      .when(resume([approve('k1')], by, BEFORE))
      .thenRejected('conversation-not-found');
    given(conversation, [...WAITING, approved('t1', 'k1'), resumed('t1'), taken('t1')])
      .when(resume([approve('k1')], by, BEFORE))
      .thenRejected('conversation-not-found');
  });
  it.each([
    ['a key of the agent', key],
    ['the owner', alice],
  ])('of a question that was asked with a key is accepted from %s', (_, by) =>
    given(conversation, [started, asked('t1', { agentKeyId: 'key-1' }), taken('t1'), paused('t1', ['k1'])])
      .when(resume([approve('k1')], by, BEFORE))
      .then([approved('t1', 'k1'), resumed('t1')]),
  );
  it('of a question of the owner is rejected for a key, also where a key began the conversation', () => {
    const begunWithKey = [started, asked('t1', { agentKeyId: 'key-1' }), taken('t1')];
    const decide = (by: Party) =>
      given(conversation, [...begunWithKey, asked('t2', { index: 1 }), taken('t2'), paused('t2', ['k1'])]).when(
        resume([approve('k1')], by, BEFORE),
      );
    decide(key).thenRejected('conversation-not-found');
    decide(alice).then([approved('t2', 'k1'), resumed('t2')]);
  });
  it('is rejected where the conversation is deleted or never began', () => {
    given(conversation, [...WAITING, deleted])
      .when(resume([approve('k1')], alice, BEFORE))
      .thenRejected('conversation-not-found');
    given(conversation, [])
      .when(resume([approve('k1')], alice, BEFORE))
      .thenRejected('conversation-not-found');
  });
  it('is accepted until the pause ends or has expired by any clock', () => {
    const decide = (now: Date) => given(conversation, WAITING).when(resume([approve('k1'), approve('k2')], alice, now));
    const byAnyClock = THEN.getTime() + CLOCKS_APART_MS_MAX;
    for (const now of [BEFORE, THEN, new Date(byAnyClock - 1)])
      decide(now).then([approved('t1', 'k1'), approved('t1', 'k2'), resumed('t1')]);
    decide(new Date(byAnyClock)).thenRejected('tool-call-not-pending');
  });
  it.each([
    ['an unknown call', [approve('k9')]],
    ['an unknown call beside a waiting one', [approve('k1'), approve('k9')]],
    ['no call', []],
  ])('is rejected when it names %s', (_, answers) =>
    given(conversation, WAITING)
      .when(resume(answers, alice, BEFORE))
      .thenRejected('tool-call-not-pending'),
  );
  it('is rejected while an earlier resumption is running and after it has ended', () => {
    const again = resume([approve('k1')], alice, BEFORE);
    const going = [...WAITING, approved('t1', 'k1'), approved('t1', 'k2'), resumed('t1')];
    given(conversation, going).when(again).thenRejected('resume-in-progress');
    given(conversation, [...going, taken('t1', 'p2')])
      .when(again)
      .thenRejected('resume-in-progress');
    given(conversation, [...going, taken('t1', 'p2'), turnUnresumed(aboutTurn('t1'), 'expired').at(-1)!])
      .when(again)
      .thenRejected('tool-call-not-pending');
  });
  it.each([
    ['a call that never waited', 'k9'],
    ['a call of an earlier pause', 'k0'],
  ])('is rejected while an earlier resumption is running, also when it names %s', (_, callId) => {
    const earlier = [started, asked('t0'), taken('t0'), paused('t0', ['k0']), ...turnUnresumed(aboutTurn('t0'), 'expired')];
    const now = [asked('t1', { index: 1 }), taken('t1'), paused('t1', ['k1']), approved('t1', 'k1'), resumed('t1')];
    given(conversation, [...earlier, ...now, taken('t1', 'p2')])
      .when(resume([approve(callId)], alice, BEFORE))
      .thenRejected('resume-in-progress');
  });
  it('applies to the open pause only, not to an earlier one', () => {
    const past = [...WAITING, approved('t1', 'k1'), resumed('t1'), taken('t1'), paused('t1', ['k3'])];
    given(conversation, past)
      .when(resume([approve('k1')], alice, BEFORE))
      .thenRejected('tool-call-not-pending');
    given(conversation, past)
      .when(resume([approve('k3')], alice, BEFORE))
      .then([approved('t1', 'k3'), resumed('t1')]);
  });
  it('of one of two paused turns leaves the other paused', () =>
    given(conversation, [...WAITING, asked('t2', { index: 1 }), taken('t2'), paused('t2', ['k3'])])
      .when(resume([approve('k3')], alice, BEFORE))
      .then([approved('t2', 'k3'), resumed('t2')]));
  it('is rejected when its calls are waited for by more than one turn', () => {
    const two = (callId: string) => [...WAITING, asked('t2', { index: 1 }), taken('t2'), paused('t2', [callId])];
    given(conversation, two('k1'))
      .when(resume([approve('k1')], alice, BEFORE))
      .thenRejected('tool-call-not-pending');
    given(conversation, two('k3'))
      .when(resume([approve('k1'), approve('k3')], alice, BEFORE))
      .thenRejected('tool-call-not-pending');
  });
});

describe('a pause', () => {
  const running = WAITING.slice(0, 3);
  const waiting = paused('t1', ['k1']);
  it('is recorded when its producer reports it', () =>
    given(conversation, running).when(pause(waiting.data, 'p1')).then([waiting]));
  it('becomes a stop where a stop was requested before', () => {
    const { conversationId: _, turnId, answer, thought, sources, toolCalls, structured } = waiting.data;
    given(conversation, [...running, stopAsked('t1')])
      .when(pause(waiting.data, 'p1'))
      .then([{ type: 'TurnStopped', data: { conversationId, turnId, answer, thought, sources, toolCalls, structured } }]);
  });
  it.each([
    ['has ended', [turnUnresumed(aboutTurn('t1'), 'expired').at(-1)!]],
    ['is deleted with its conversation', [deleted]],
    ['is paused already', [waiting]],
  ])('is not recorded for a turn that %s', (_, since) =>
    given(conversation, [...running, ...since])
      .when(pause(waiting.data, 'p1'))
      .thenNothing(),
  );
  it('is rejected from a producer that no longer holds the turn', () => {
    for (const since of [[], [taken('t1', 'p2')], [taken('t1', 'p2'), paused('t1', ['k3'])]]) {
      given(conversation, [...running, waiting, approved('t1', 'k1'), resumed('t1'), ...since])
        .when(pause(waiting.data, 'p1'))
        .thenRejected('turn-taken');
    }
  });
  it('can be neither stopped nor started', () => {
    given(conversation, WAITING).when(requestStop('t1')).thenRejected('message-not-running');
    given(conversation, WAITING).when(startTurn('t1', 'p2')).thenRejected('turn-taken');
  });
});

it('for any sequence of decisions, each call is decided once, each turn ends once, runs never decrease and only a running turn pauses', () => {
  const turnId = fc.constantFrom('t1', 't2');
  const producer = fc.constantFrom('p1', 'p1', 'p2');
  const callId = fc.constantFrom('k1', 'k2', 'k3');
  const calls = fc.uniqueArray(callId, { minLength: 1, maxLength: 2 });
  const now = fc.constantFrom(BEFORE, BEFORE, THEN);
  const answer = fc.tuple(callId, fc.constantFrom(approve, deny, bring)).map(([id, how]) => how(id));
  const answers = fc.uniqueArray(answer, { selector: (each) => each.callId, minLength: 1, maxLength: 2 });
  const pausedFor = (id: string, callIds: readonly string[]) => paused(id, ...callIds.map((each) => [each] as const));
  const by = fc.constantFrom<Party>(alice, key);
  const agentKey = fc.constantFrom('key-1', null);
  /** The owner decides on all calls of a paused turn. */
  const fitting =
    (how: Iterator<typeof approve>): Decide =>
    (state) => {
      const waiting = [...state.turns.values()].find(({ status }) => status === 'paused');
      const all = waiting?.pause!.calls.map(({ callId: id }) => (how.next().value as typeof approve)(id)) ?? [];
      return resume(all, alice, BEFORE)(state);
    };
  const often = (arbitrary: fc.Arbitrary<Decide>) => ({ weight: 6, arbitrary });
  const rarely = (arbitrary: fc.Arbitrary<Decide>) => ({ weight: 1, arbitrary });
  const sometimes = (arbitrary: fc.Arbitrary<Decide>) => ({ weight: 2, arbitrary });
  const decision = fc.oneof(
    sometimes(fc.tuple(turnId, agentKey, fc.option(fc.nat(2))).map(([id, keyId, at]) => ask(question(id, keyId, at), null))),
    often(fc.tuple(turnId, producer).map(([id, who]) => startTurn(id, who))),
    often(fc.tuple(turnId, calls, producer).map(([id, ids, who]) => pause(pausedFor(id, ids).data, who))),
    often(fc.infiniteStream(fc.constantFrom(approve, deny)).map((how) => fitting(how))),
    sometimes(fc.tuple(answers, by, now).map(([all, who, at]) => resume(all, who, at))),
    often(fc.tuple(turnId, producer, callId).map(([id, who, call]) => startCall(id, who, callOf(call)))),
    sometimes(fc.tuple(turnId, now).map(([id, at]) => expire(id, at))),
    sometimes(fc.tuple(turnId, callId).map(([id, call]) => finishCall(finished(id, call)))),
    sometimes(fc.tuple(turnId, producer).map(([id, who]) => requeue(id, who))),
    rarely(turnId.map((id) => requestStop(id))),
    rarely(turnId.map((id) => conclude(turnUnresumed(aboutTurn(id), 'expired').at(-1) as TurnOutcome))),
    rarely(turnId.map((id) => seal({ ...aboutTurn(id), lastId: 1, frames: 2, sha256: 'ab' }))),
  );
  fc.assert(
    fc.property(fc.array(decision, { minLength: 40, maxLength: 60 }), fc.boolean(), (decisions, isDeleted) => {
      let state: Conversation = [started, asked('t1'), taken('t1')].reduce(conversation.evolve, conversation.initial);
      const open = new Map<string, Set<string>>();
      const ends = new Map<string, number>();
      for (const decide of [...decisions.slice(0, 50), ...(isDeleted ? [remove] : []), ...decisions.slice(50)]) {
        const before = state;
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce(conversation.evolve, state);
        for (const event of events) {
          if (!('turnId' in event.data)) continue;
          const id = event.data.turnId;
          if (event.type === 'TurnPaused') {
            expect(before.turns.get(id)!.status).toBe('running');
            open.set(id, new Set(event.data.calls.map((call) => call.callId)));
          }
          if (event.type === 'ToolCallApproved' || event.type === 'ToolCallDenied' || event.type === 'ToolCallAnswered') {
            expect(open.get(id)!.delete(event.data.callId)).toBe(true);
          }
          if (event.type === 'TurnResumed') expect(open.get(id)!.size).toBe(0);
          if (event.type === 'ToolCallStarted') expect(before.turns.get(id)!.stopRequested).toBe(false);
          if (event.type === 'TurnAnswered' || event.type === 'TurnStopped') ends.set(id, (ends.get(id) ?? 0) + 1);
        }
        for (const [id, turn] of state.turns) {
          expect(turn.runs).toBeGreaterThanOrEqual(before.turns.get(id)?.runs ?? 1);
          if (turn.status === 'paused') expect([...open.get(id)!]).toEqual(turn.pause!.calls.map((call) => call.callId));
          const isEnded = turn.status === 'answered' || turn.status === 'stopped';
          expect(ends.get(id) ?? 0).toBe(isEnded ? 1 : 0);
        }
      }
    }),
    { numRuns: 300 },
  );
});
