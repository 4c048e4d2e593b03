import { expect, it } from '@jest/globals';
import { session, state } from './session.decider.js';
import type { SessionEnded, SessionEvent, SessionStarted, SignInRefused } from './session.events.js';

const about = { sessionId: 's1', userId: 'u1' };
const started: SessionStarted = { type: 'SessionStarted', data: { ...about, issuer: 'https://a.example' } };
const ended: SessionEnded = { type: 'SessionEnded', data: { ...about, reason: 'signed-out' } };
const refused: SignInRefused = { type: 'SignInRefused', data: { attemptId: 'a1', userId: null, reason: 'missing_claim' } };

const after = (...events: SessionEvent[]) => events.reduce(session.evolve, session.initial);

it('a session starts and ends once', () => {
  expect(state(started)(after())).toEqual([started]);
  expect(state(started)(after(started))).toEqual([]);
  expect(state(ended)(after(started))).toEqual([ended]);
  expect(state(ended)(after(started, ended))).toEqual([]);
  expect(state(started)(after(started, ended))).toEqual([]);
});

it('an end is recorded even if the start was not', () => expect(state(ended)(after())).toEqual([ended]));

it('a refused sign-in is recorded once', () => {
  expect(state(refused)(after())).toEqual([refused]);
  expect(state(refused)(after(refused))).toEqual([]);
});
