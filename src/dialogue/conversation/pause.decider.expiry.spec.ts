import { describe, expect, it } from '@jest/globals';
import { given } from '../../../test/support/given.js';
import {
  aboutTurn,
  approved,
  asked,
  deleted,
  paused,
  question,
  resumed,
  taken,
  WAITING,
} from '../../../test/support/paused-conversations.js';
import { PAUSE_EXPIRES_AT, turnUnresumed } from '../../../test/support/pauses.js';
import { ask, conversation, remove } from './conversation.decider.js';
import type { ConversationEvent, TurnPaused } from './conversation.events.js';
import { expire } from './pause.decider.js';

const BEFORE = new Date(Date.parse(PAUSE_EXPIRES_AT) - 1);
const THEN = new Date(PAUSE_EXPIRES_AT);

describe('an unanswered pause', () => {
  const usage = { promptTokens: 7, completionTokens: 3 };
  const record = (callId: string) => ({ call_id: callId, status: 'denied', not_run: 'expired' });
  it('ends the turn when it expires and not before, keeps the text and marks the calls as not run', () => {
    given(conversation, WAITING).when(expire('t1', BEFORE)).thenNothing();
    const past = [...WAITING.slice(0, 3), { ...WAITING[3]!, data: { ...(WAITING[3] as TurnPaused).data, usage } } as TurnPaused];
    const events = expire('t1', THEN)(past.reduce(conversation.evolve, conversation.initial));
    expect(events.slice(0, 2)).toEqual(turnUnresumed(aboutTurn('t1'), 'expired', 'k1', 'k2').slice(0, 2));
    expect(events[2]).toMatchObject({ type: 'TurnAnswered', data: { answer: 'Let me', modelId: 'offline', usage } });
    expect(events[2]).toMatchObject({ data: { toolCalls: [record('k1'), record('k2')] } });
    expect(events).toHaveLength(3);
  });
  it.each([
    ['was resumed', [approved('t1', 'k1'), resumed('t1')]],
    ['expired before', turnUnresumed(aboutTurn('t1'), 'expired', 'k1', 'k2')],
    ['is deleted with its conversation', [deleted]],
  ])('does not expire once its turn %s', (_, since) =>
    given(conversation, [...WAITING, ...since])
      .when(expire('t1', THEN))
      .thenNothing(),
  );
  it('does not expire for an unknown turn', () => given(conversation, WAITING).when(expire('t9', THEN)).thenNothing());

  const notRun = (events: readonly ConversationEvent[]) =>
    events.flatMap((event) => (event.type === 'ToolCallDenied' ? [`${event.data.callId} ${event.data.notRun}`] : []));
  const typesOf = (events: readonly ConversationEvent[]) => events.map(({ type }) => type);
  const state = (events: readonly ConversationEvent[]) => events.reduce(conversation.evolve, conversation.initial);
  it('ends when another question is asked', () => {
    const events = ask(question('t2'), null)(state(WAITING));
    expect(typesOf(events)).toEqual(['ToolCallDenied', 'ToolCallDenied', 'TurnAnswered', 'TurnAsked']);
    expect(notRun(events)).toEqual(['k1 moved_on', 'k2 moved_on']);
  });
  it('ends before another question replaces its turn', () => {
    const events = ask(question('t2', null, 0), null)(state(WAITING));
    expect(typesOf(events)).toEqual(['ToolCallDenied', 'ToolCallDenied', 'TurnAnswered', 'TurnsSuperseded', 'TurnAsked']);
  });
  it('ends together with all other pauses of the conversation', () => {
    const two = [...WAITING, asked('t2', { index: 1 }), taken('t2'), paused('t2', ['k3'])];
    const events = ask(question('t3'), null)(state(two));
    expect(notRun(events)).toEqual(['k1 moved_on', 'k2 moved_on', 'k3 moved_on']);
    expect(typesOf(events).filter((type) => type === 'TurnAnswered')).toHaveLength(2);
  });
  it('gets no event when its conversation is deleted', () => given(conversation, WAITING).when(remove).then([deleted]));
});
