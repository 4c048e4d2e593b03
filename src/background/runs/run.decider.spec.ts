import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import { turnSettings } from '../../../test/support/turn-settings.js';
import type { CalledTool } from '../../dialogue/conversation/conversation.events.js';
import {
  abandonAttempt,
  failRun,
  finishEffect,
  finishRun,
  giveUpRun,
  purgeRun,
  isOver,
  queueRun,
  refuseRun,
  type Run,
  run,
  startEffect,
  startRun,
} from './run.decider.js';
import type { RunEvent, RunFinished, RunQueued } from './run.events.js';

const runId = 'r1';
const data: RunQueued['data'] = { runId, ownerId: 'alice', agentId: 'a1', trigger: 'webhook', input: '{}' };
const settings = turnSettings();
const later = turnSettings({ modelId: 'another' });
const call: CalledTool = {
  callId: 'c1',
  toolId: 't1',
  toolName: 'api_tool',
  actionName: 'send',
  name: 'send',
  arguments: {},
  argumentsSha256: 'h',
};
const parts = { answer: 'Done.', thought: '', sources: [], toolCalls: [], structured: false };
const answer = (attempt: number): RunFinished['data'] => ({ runId, attempt, ...parts, modelId: 'm', usage: null, error: null });

const queued: RunEvent = { type: 'RunQueued', data };
const started = (attempt: number): RunEvent => ({ type: 'RunStarted', data: { runId, attempt, settings } });
const begun = (attempt: number, effect: number): RunEvent => ({
  type: 'RunToolCallStarted',
  data: { runId, attempt, effect, call },
});
const ended = (attempt: number, effect: number): RunEvent => ({
  type: 'RunToolCallFinished',
  data: { runId, attempt, effect, status: 'completed', result: 'ok' },
});
const finished = (attempt: number): RunEvent => ({ type: 'RunFinished', data: answer(attempt) });
const refused: RunEvent = { type: 'RunRefused', data: { runId, reason: 'quota_exceeded', error: 'No room.' } };
const failed: RunEvent = { type: 'RunFailed', data: { runId, error: 'x' } };

describe('a run', () => {
  it('is queued once', () => {
    given(run, []).when(queueRun(data)).then([queued]);
    given(run, [queued]).when(queueRun(data)).thenNothing();
  });
  it('keeps the settings of its first attempt', () =>
    given(run, [queued, started(1)])
      .when(startRun(runId, 2, later))
      .then([started(2)]));
  it('keeps the history revision of its first attempt', () => {
    const history = { conversationId: 'c1', revision: 4 };
    const first: RunEvent = { type: 'RunStarted', data: { runId, attempt: 1, settings, history } };
    const second: RunEvent = { type: 'RunStarted', data: { runId, attempt: 2, settings, history } };
    given(run, [queued])
      .when(startRun(runId, 1, settings, history))
      .then([first]);
    given(run, [queued, first])
      .when(startRun(runId, 2, later, { ...history, revision: 9 }))
      .then([second]);
    given(run, [queued, started(1)])
      .when(startRun(runId, 2, later, history))
      .then([started(2)]);
  });
  it('rejects events of an attempt after a later one has begun', () => {
    const past = given(run, [queued, started(1), started(2)]);
    past.when(startRun(runId, 1, settings)).thenRejected('run-attempt-superseded');
    past.when(startEffect(runId, 1, call)).thenRejected('run-attempt-superseded');
    past.when(finishRun(answer(1))).thenRejected('run-attempt-superseded');
    past.when(abandonAttempt(runId, 1, 'm', null)).thenNothing();
  });
  it('records the end of a call of an earlier attempt', () =>
    given(run, [queued, started(1), begun(1, 0), started(2)])
      .when(finishEffect(runId, 0, 'completed', 'ok'))
      .then([ended(1, 0)]));
  it('numbers its calls with effects over all attempts', () =>
    given(run, [queued, started(1), begun(1, 0), started(2)])
      .when(startEffect(runId, 2, call))
      .then([begun(2, 1)]));
  it('can be refused only before it has started', () => {
    given(run, [queued]).when(refuseRun(runId, 'No room.')).then([refused]);
    given(run, [queued, started(1)])
      .when(refuseRun(runId, 'No room.'))
      .thenNothing();
  });
  it('can be given up only before it has started', () => {
    const givenUp: RunEvent = { type: 'RunFailed', data: { runId, error: 'Too late.', reason: 'timeout' } };
    given(run, [queued]).when(giveUpRun(runId, 'Too late.')).then([givenUp]);
    for (const past of [[], [queued, started(1)], [queued, failed]])
      given(run, past).when(giveUpRun(runId, 'Too late.')).thenNothing();
  });
  it.each([[finished(1)], [refused], [failed]])('does not change after its end: %j', (end) => {
    const past = given(run, [queued, started(1), begun(1, 0), end]);
    past.when(startRun(runId, 2, settings)).thenRejected('run-over');
    past.when(startEffect(runId, 1, call)).thenRejected('run-over');
    past.when(finishEffect(runId, 0, 'completed', 'ok')).thenNothing();
    past.when(failRun(runId, 'y')).thenNothing();
  });
  it('cannot start before it is queued', () =>
    given(run, [])
      .when(startRun(runId, 1, settings))
      .thenRejected('run-unknown'));
});

it('in any order of decisions a run ends once, its attempt never decreases, and each effect has at most one end', () => {
  const attempt = fc.integer({ min: 1, max: 3 });
  const decision = fc.oneof(
    attempt.map((each) => startRun(runId, each, settings)),
    attempt.map((each) => startEffect(runId, each, call)),
    fc.integer({ min: 0, max: 3 }).map((effect) => finishEffect(runId, effect, 'completed', 'ok')),
    attempt.map((each) => abandonAttempt(runId, each, 'm', null)),
    attempt.map((each) => finishRun(answer(each))),
    fc.constantFrom(queueRun(data), refuseRun(runId, 'x'), failRun(runId, 'x'), giveUpRun(runId, 'x')),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 25 }), (decisions) => {
      let state: Run = run.initial;
      for (const decide of [queueRun(data), ...decisions]) {
        const before = state;
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce<Run>(run.evolve, state);
        if (isOver(before)) expect(events).toEqual([]);
        expect(state.attempt).toBeGreaterThanOrEqual(before.attempt);
        before.effects.forEach(({ end }, effect) => end && expect(state.effects[effect]!.end).toBe(end));
      }
    }),
    { numRuns: 500 },
  );
});

describe('an ended run', () => {
  const now = new Date('2026-02-01T00:00:00.000Z');
  const delivery = { stream: 'delivery-k', revision: 2 };
  const use = { revision: 1, at: '2026-01-01T00:00:00.000Z', requests: 1, promptTokens: 0, completionTokens: 0 };
  const purged: RunEvent = {
    type: 'RunPurged',
    data: { runId, ownerId: 'alice', agentId: 'a1', trigger: 'webhook', delivery, used: [use], purgedAt: now.toISOString() },
  };
  const purge = purgeRun(runId, delivery, [use], now);

  it('is purged once, after any end', () => {
    for (const end of [finished(1), failed]) {
      given(run, [queued, started(1), end])
        .when(purge)
        .then([purged]);
      given(run, [queued, started(1), end, purged])
        .when(purge)
        .thenNothing();
    }
    given(run, [queued, refused]).when(purge).then([purged]);
  });
  it('is not purged before its end', () => {
    for (const past of [[], [queued], [queued, started(1)]]) given(run, past).when(purge).thenNothing();
  });
  it('is neither queued nor started again when only its purge is left', () => {
    given(run, [purged]).when(queueRun(data)).thenNothing();
    given(run, [purged])
      .when(startRun(runId, 2, settings))
      .thenRejected('run-over');
    given(run, [purged]).when(purge).thenNothing();
  });
});
