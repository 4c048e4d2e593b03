import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../../../test/support/given.js';
import {
  type StepNode,
  completeNode,
  failNode,
  finishWorkflowRun,
  isOver,
  purgeWorkflowRun,
  restartNode,
  type RunStep,
  startWorkflowRun,
  waitInNode,
  workflowRun,
} from './workflow-run.decider.js';
import type { NodeCompleted, NodeFailed, WorkflowRunEvent, WorkflowRunStarted } from './workflow-run.events.js';

const workflowRunId = 'w1';
const about = { workflowRunId };
const blob = { sha256: 'aa', size: 70_000 };
const data: WorkflowRunStarted['data'] = {
  workflowRunId,
  workflowId: 'graph-1',
  version: 2,
  ownerId: 'alice',
  workflowOwnerId: 'alice',
  agentId: 'a1',
  origin: { kind: 'turn', conversationId: 'c1', turnId: 't1' },
  inputs: { query: { value: 'Why?' } },
  history: null,
  tools: [],
};
const nodeOf = (nodeId: string): StepNode => ({ nodeId, nodeType: 'agent', title: nodeId });
const completion = (step: number, attempt = 1, more: Partial<NodeCompleted['data']> = {}): NodeCompleted['data'] => ({
  workflowRunId,
  step,
  nodeId: `n${step}`,
  attempt,
  output: null,
  stateDelta: {},
  problems: [],
  toolCalls: [],
  artifactIds: [],
  contribution: { answer: null, thought: null, sources: null, toolCalls: null },
  usage: null,
  ...more,
});
const failure = (step: number, attempt = 1): NodeFailed['data'] => ({
  workflowRunId,
  step,
  nodeId: `n${step}`,
  attempt,
  error: 'Broken.',
  code: 'node-failed',
  stateDelta: {},
  problems: [],
  toolCalls: [],
  artifactIds: [],
  usage: null,
});

const started: WorkflowRunEvent = { type: 'WorkflowRunStarted', data };
const begun = (step: number, attempt = 1, fencingToken = 1): WorkflowRunEvent => ({
  type: 'NodeStarted',
  data: { workflowRunId, step, attempt, ...nodeOf(`n${step}`), fencingToken },
});
const completed = (step: number, attempt = 1): WorkflowRunEvent => ({ type: 'NodeCompleted', data: completion(step, attempt) });
const failed = (step: number): WorkflowRunEvent => ({ type: 'NodeFailed', data: failure(step) });
const waiting = (step: number): WorkflowRunEvent => ({
  type: 'NodeWaiting',
  data: { ...about, step, nodeId: `n${step}`, attempt: 1, callIds: ['call-1'] },
});
const ended = (status: 'completed' | 'failed' | 'stopped', reason: 'node_failed' | 'stopped' | null = null) =>
  ({
    type: 'WorkflowRunFinished',
    data: { workflowRunId, status, reason, error: reason === 'node_failed' ? 'Broken.' : null },
  }) as const satisfies WorkflowRunEvent;
const stepOf = (past: readonly WorkflowRunEvent[], step: number): RunStep =>
  past.reduce(workflowRun.evolve, workflowRun.initial).steps[step - 1]!;

describe('a run', () => {
  it('begins once, with its first step', () => {
    given(workflowRun, [])
      .when(startWorkflowRun(data, nodeOf('n1'), 1))
      .then([started, begun(1)]);
    given(workflowRun, [started, begun(1)])
      .when(startWorkflowRun(data, nodeOf('n1'), 1))
      .thenNothing();
  });

  it('of a graph without a start node has no step and can be ended', () => {
    given(workflowRun, [])
      .when(startWorkflowRun(data, undefined, 1))
      .then([started]);
    given(workflowRun, [started])
      .when(finishWorkflowRun(about, 'stopped', 'stopped', null))
      .then([ended('stopped', 'stopped')]);
  });

  it('ends with its last step', () =>
    given(workflowRun, [started, begun(1)])
      .when(completeNode(completion(1), 'end'))
      .then([completed(1), ended('completed')]));

  it('ends with a node that fails', () =>
    given(workflowRun, [started, begun(1)])
      .when(failNode(failure(1), 'node_failed'))
      .then([failed(1), ended('failed', 'node_failed')]));

  it('does not change after its end', () => {
    const over = [started, begun(1), completed(1), ended('completed')];
    given(workflowRun, over)
      .when(finishWorkflowRun(about, 'failed', 'interrupted', null))
      .thenNothing();
    given(workflowRun, over)
      .when(completeNode(completion(1), 'end'))
      .thenRejected('workflow-run-over');
    given(workflowRun, over)
      .when(restartNode(about, 1, 2))
      .thenNothing();
    given(workflowRun, [started, begun(1), ended('stopped', 'stopped')])
      .when(restartNode(about, 1, 2))
      .thenNothing();
  });

  it('cannot be ended before it has begun', () =>
    given(workflowRun, [])
      .when(finishWorkflowRun(about, 'failed', 'interrupted', null))
      .thenNothing());
});

describe('a step', () => {
  it('is followed by the next step in the same append', () =>
    given(workflowRun, [started, begun(1)])
      .when(completeNode(completion(1), { begins: nodeOf('n2') }))
      .then([completed(1), begun(2)]));

  it('gets a new attempt after a loss of its producer, and the former attempt cannot end it', () => {
    given(workflowRun, [started, begun(1)])
      .when(restartNode(about, 1, 2))
      .then([begun(1, 2, 2)]);
    const anew = [started, begun(1), begun(1, 2, 2)];
    given(workflowRun, anew)
      .when(completeNode(completion(1, 1), 'end'))
      .thenRejected('workflow-step-superseded');
    given(workflowRun, anew)
      .when(completeNode(completion(1, 2), 'end'))
      .then([completed(1, 2), ended('completed')]);
  });

  it('is not begun or ended by a producer whose successor has begun it or a later step', () => {
    for (const taken of [
      [started, begun(1), begun(1, 2, 2)],
      [started, begun(1), begun(1, 2, 2), completed(1, 2), begun(2, 1, 2)],
    ]) {
      given(workflowRun, taken)
        .when(restartNode(about, 1, 1))
        .thenRejected('workflow-step-superseded');
      given(workflowRun, taken)
        .when(restartNode(about, 2, 1))
        .thenRejected('workflow-step-superseded');
      given(workflowRun, taken)
        .when(finishWorkflowRun(about, 'failed', 'interrupted', null, 1))
        .thenRejected('workflow-step-superseded');
      given(workflowRun, taken)
        .when(finishWorkflowRun(about, 'stopped', 'stopped', null, 2))
        .then([ended('stopped', 'stopped')]);
    }
  });

  it('belongs to the producer that has completed the step before it', () =>
    given(workflowRun, [started, begun(1), begun(1, 2, 2)])
      .when(completeNode(completion(1, 2), { begins: nodeOf('n2') }))
      .then([completed(1, 2), begun(2, 1, 2)]));

  it('is never begun again after its completion', () =>
    given(workflowRun, [started, begun(1), completed(1), begun(2)])
      .when(restartNode(about, 1, 2))
      .thenNothing());

  it('waits for its calls and continues in a new attempt', () => {
    given(workflowRun, [started, begun(1)])
      .when(waitInNode(about, stepOf([started, begun(1)], 1), ['call-1']))
      .then([waiting(1)]);
    given(workflowRun, [started, begun(1), waiting(1)])
      .when(completeNode(completion(1), 'end'))
      .thenRejected('workflow-step-superseded');
    given(workflowRun, [started, begun(1), waiting(1)])
      .when(restartNode(about, 1, 2))
      .then([begun(1, 2, 2)]);
  });

  it('adds its values, blobs and artifacts to the state of the run', () => {
    const delta = { report: { blob }, total: { value: 3 } };
    const end: WorkflowRunEvent = { type: 'NodeCompleted', data: completion(1, 1, { stateDelta: delta, artifactIds: ['x'] }) };
    const state = [started, begun(1), end].reduce(workflowRun.evolve, workflowRun.initial);
    expect(state.values).toEqual({ query: { value: 'Why?' }, ...delta });
    expect([state.blobs, state.artifactIds]).toEqual([['aa'], ['x']]);
  });
});

it('the purge of an ended run contains its blobs and artifacts, and leaves the same state if earlier events are truncated', () => {
  const end: WorkflowRunEvent = { type: 'NodeCompleted', data: completion(1, 1, { output: { blob }, artifactIds: ['x'] }) };
  const now = new Date('2026-01-01T00:00:00Z');
  given(workflowRun, [started, begun(1), end])
    .when(purgeWorkflowRun(about, now))
    .thenNothing();
  const purged: WorkflowRunEvent = {
    type: 'WorkflowRunPurged',
    data: {
      workflowRunId,
      workflowId: 'graph-1',
      ownerId: 'alice',
      blobs: ['aa'],
      artifactIds: ['x'],
      purgedAt: now.toISOString(),
    },
  };
  given(workflowRun, [started, begun(1), end, ended('completed')])
    .when(purgeWorkflowRun(about, now))
    .then([purged]);
  given(workflowRun, [purged]).when(purgeWorkflowRun(about, now)).thenNothing();
  const state = (events: readonly WorkflowRunEvent[]) => events.reduce(workflowRun.evolve, workflowRun.initial);
  expect(state([started, begun(1), end, ended('completed'), purged])).toEqual(state([purged]));
});

it('in any order of decisions no step is completed twice and a run ends once', () => {
  const step = fc.integer({ min: 1, max: 3 });
  const attempt = fc.integer({ min: 1, max: 3 });
  const decision = fc.oneof(
    fc.constant(startWorkflowRun(data, nodeOf('n1'), 1)),
    fc.tuple(step, fc.integer({ min: 1, max: 3 })).map(([number, token]) => restartNode(about, number, token)),
    fc.tuple(step, attempt).map(([number, nth]) => completeNode(completion(number, nth), { begins: nodeOf(`n${number + 1}`) })),
    fc.tuple(step, attempt).map(([number, nth]) => completeNode(completion(number, nth), 'end')),
    fc.tuple(step, attempt).map(([number, nth]) => failNode(failure(number, nth), 'node_failed')),
    fc.constant(finishWorkflowRun(about, 'stopped', 'stopped', null)),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 30 }), (decisions) => {
      let state = workflowRun.initial;
      const events: WorkflowRunEvent[] = [];
      for (const decide of decisions) {
        const added = eventsUnlessRejected(decide, state) ?? [];
        state = added.reduce(workflowRun.evolve, state);
        events.push(...added);
      }
      const made = events.flatMap((event) => (event.type === 'NodeCompleted' ? event.data.step : []));
      expect(made).toEqual([...new Set(made)].sort());
      const ends = events.filter(({ type }) => type === 'WorkflowRunFinished');
      expect(ends.length).toBe(isOver(state) ? 1 : 0);
    }),
  );
});
