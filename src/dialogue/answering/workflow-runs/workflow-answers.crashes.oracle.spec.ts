import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { offeredAction, roundOf, ScriptedModels, text, toolCall, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { askedTurn, bringFurther, cause, eventsOf, framesOf, workerOver } from '../../../../test/support/turns.js';
import { inARow, node, RUNS_WORKFLOW, workflowRunOf, workflowsOver } from '../../../../test/support/workflows.js';
import { conversation } from '../../conversation/conversation.decider.js';
import { conversationStream } from '../../conversation/conversation.events.js';
import { expire, resume } from '../../conversation/pause.decider.js';
import type { Decide } from '../../conversation/turn.policy.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { ModelRequest } from '../../../resources/models/model/language-model.port.js';
import { workflowRunIdOf, workflowRunStream } from './run/workflow-run.events.js';

Logger.overrideLogger(false);

/** The node with a tool calls it once and then reports it. */
const speaks = (request: ModelRequest) => {
  if (request.question !== 'act') return [text(`${request.question} `)];
  return roundOf(request) === 0 ? [toolCall('k1', 'send')] : [text('acted ')];
};

const agent = (id: string, more: object = {}) => node(id, 'agent', { prompt_template: id, ...more });

/** Three agents in a row, the second of which calls a tool with effects. */
const graphThat = (streams: boolean) => {
  const stream = { stream_to_user: streams };
  return inARow([agent('one', stream), agent('act', { ...stream, tools: ['tool-1'] }), agent('two', stream)], 'The end.');
};

/** A turn of a workflow, run by any number of processes. */
function workflow({ streams = true, requiresApproval = false, isFickle = false } = {}) {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const sent: string[] = [];
  let answers = 0;
  const models = new ScriptedModels((request) => [...(isFickle ? [text(`${answers++} `)] : []), ...speaks(request)]);
  const actions = [offeredAction('send', { access: 'write', requiresApproval })];
  const process = (store: EventStore = log) => {
    const tools = new ToolsForTests(actions, ({ name }) => {
      sent.push(name);
      return 'sent';
    });
    return workerOver(store, new InProcessSignals(), workflowsOver(store, graphThat(streams), models, tools, blobs), blobs)
      .runner;
  };
  const decide = (decision: Decide) =>
    new Streams(log, systemTiming).transact(conversationStream('c1'), conversation, decision, cause);
  return {
    log,
    sent,
    models,
    process,
    decide,
    begin: () => askedTurn(log, 'c1', 't1', RUNS_WORKFLOW),
    sweep: async () => {
      const sweeper = process();
      await sweeper.run('c1', 't1');
      await bringFurther(sweeper, 'c1', 't1');
    },
    course: async () => {
      const frames = await framesOf(log, 't1');
      const run = (await eventsOf(log, workflowRunStream(workflowRunIdOf('t1')))).map(({ type, data }) => ({
        type,
        data: JSON.parse(data) as { step: number },
      }));
      return {
        frames,
        completed: run.filter(({ type }) => type === 'NodeCompleted').map(({ data }) => data.step),
        ends: run.filter(({ type }) => type === 'WorkflowRunFinished').length,
        outcomes: (await eventsOf(log, conversationStream('c1'))).filter(({ type }) =>
          ['TurnAnswered', 'TurnFailed', 'TurnStopped'].includes(type),
        ),
        run: await workflowRunOf(log, 't1'),
      };
    },
  };
}

const outline = (frames: readonly Record<string, unknown>[]) => frames.map((frame) => JSON.stringify(frame));
const isOfRun = ({ type }: Record<string, unknown>) => type === 'workflow_run' || type === 'workflow_step';
const answerIn = (frames: readonly Record<string, unknown>[]) =>
  frames.flatMap(({ type, answer }) => (type === 'answer' ? [answer as string] : [])).join('');
const asked = (models: ScriptedModels, question: string) =>
  models.requests.filter((request) => request.question === question && roundOf(request) === 0).length;

describe.each([
  { nodes: 'nodes that are silent', streams: false },
  { nodes: 'nodes that speak', streams: true },
])('a run of $nodes, whose producer dies after any append', ({ streams }) => {
  it('keeps the shown frames, repeats no completed step, sends at most once, and ends once', async () => {
    const whole = workflow({ streams });
    await whole.begin();
    await whole.process().run('c1', 't1');
    const expected = await whole.course();
    expect(answerIn(expected.frames)).toBe(streams ? 'one act'.slice(0, 4) + 'acted two \n\nThe end.' : 'The end.');
    let wasDead = true;
    let wentOn = 0;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const turn = workflow({ streams });
      await turn.begin();
      const store = new MortalStore(turn.log, deathAfter);
      await turn
        .process(store)
        .run('c1', 't1')
        .catch(() => undefined);
      wasDead = store.isDead;
      const shown = await framesOf(turn.log, 't1');
      const madeBefore = (await turn.course()).completed;
      const askedBefore = turn.models.requests.length;
      await turn.sweep();
      const { frames, completed, ends, outcomes, run } = await turn.course();
      expect(outline(frames).slice(0, shown.length)).toEqual(outline(shown));
      expect(frames.filter(({ type }) => type === 'end')).toHaveLength(1);
      expect(outcomes).toHaveLength(1);
      expect(turn.sent.length).toBeLessThanOrEqual(1);
      expect(completed).toEqual([...new Set(completed)]);
      const isInterrupted = frames.some(({ code }) => code === 'interrupted');
      if (!isInterrupted) {
        expect(ends).toBe(1);
        expect(run.status).toBe('completed');
        // Only these frames are compared, because a call whose end was lost is shown once more with an unknown outcome.
        expect(outline(frames.filter(isOfRun))).toEqual(outline(expected.frames.filter(isOfRun)));
        expect(answerIn(frames)).toBe(answerIn(expected.frames));
        if (turn.models.requests.length > askedBefore) wentOn++;
        // The model gets no second request for a recorded step.
        for (const [name, step] of [
          ['one', 2],
          ['two', 4],
        ] as const) {
          if (madeBefore.includes(step)) expect(asked(turn.models, name)).toBe(1);
        }
      }
      if (!streams) expect(isInterrupted).toBe(false);
    }
    expect(wentOn).toBeGreaterThan(2);
  });
});

describe('a producer that sleeps before any append until another one has taken its turn', () => {
  /** Work over a store whose append number `at` waits until `wake`. `sleeps` resolves to whether the work reached that append. */
  function sleeper(log: EventStore, at: number, work: (store: EventStore) => Promise<unknown>) {
    let appends = 0;
    let wake!: () => void;
    const woken = new Promise<void>((resolve) => (wake = resolve));
    let done!: Promise<unknown>;
    const sleeps = new Promise<boolean>((resolve) => {
      const store = new MortalStore(log, Infinity, () => {
        if (appends++ !== at) return undefined;
        resolve(true);
        return woken;
      });
      done = work(store)
        .catch(() => undefined)
        .finally(() => resolve(false));
    });
    return { sleeps, done, wake };
  }

  it('fails neither the run nor the answer of that one', async () => {
    let isAsleep = true;
    for (let at = 1; isAsleep; at++) {
      for (const takenOverAt of [3, 4]) {
        const turn = workflow({ streams: false, isFickle: true });
        await turn.begin();
        const first = sleeper(turn.log, at, (store) => turn.process(store).run('c1', 't1'));
        isAsleep = await first.sleeps;
        if (!isAsleep) break;
        const second = sleeper(turn.log, takenOverAt, (store) => bringFurther(turn.process(store), 'c1', 't1'));
        await second.sleeps;
        first.wake();
        await first.done;
        second.wake();
        await second.done;
        await turn.sweep();
        const { outcomes, completed, run } = await turn.course();
        expect([
          at,
          takenOverAt,
          outcomes.map(({ type, data }) => [type, (JSON.parse(data) as { error?: string }).error]),
        ]).toEqual([...[at, takenOverAt], [['TurnAnswered', undefined]]]);
        expect(completed).toEqual([1, 2, 3, 4, 5]);
        expect(run.status).toBe('completed');
        expect(turn.sent.length).toBeLessThanOrEqual(1);
      }
    }
  });
});

it('a step is recorded as completed after its text is journaled, and an end node before its text is', async () => {
  const turn = workflow();
  await turn.begin();
  const shownBefore: string[] = [];
  const slow = new MortalStore(turn.log, Infinity, async (stream, types) => {
    if (stream.startsWith('message-')) await new Promise((resolve) => setTimeout(resolve, 5));
    if (types.includes('NodeCompleted')) shownBefore.push(answerIn(await framesOf(turn.log, 't1')));
  });
  await turn.process(slow).run('c1', 't1');
  expect(shownBefore).toEqual(['', 'one ', 'one acted ', 'one acted two ', 'one acted two ']);
});

describe('a call that needs approval inside a node', () => {
  const approve: Decide = (state) => resume([{ callId: 'k1', decision: 'approved' }], { userId: 'alice' }, new Date())(state);

  it('pauses the turn, and another process continues within the node after the decision', async () => {
    const turn = workflow({ requiresApproval: true });
    await turn.begin();
    await turn.process().run('c1', 't1');
    const paused = await turn.course();
    expect(paused.run.steps.at(-1)).toMatchObject({ nodeId: 'act', status: 'waiting' });
    expect([paused.run.status, turn.sent, paused.frames.at(-3)!['type']]).toEqual(['running', [], 'tool_calls_pending']);
    await turn.decide(approve);
    await turn.process().run('c1', 't1');
    const { frames, run, outcomes, completed } = await turn.course();
    expect([turn.sent, run.status, completed]).toEqual([['send'], 'completed', [1, 2, 3, 4, 5]]);
    expect(answerIn(frames)).toBe('one acted two \n\nThe end.');
    expect(outcomes.map(({ type, data }) => [type, (JSON.parse(data) as { answer: string }).answer])).toEqual([
      ['TurnAnswered', 'one acted two \n\nThe end.'],
    ]);
    expect(asked(turn.models, 'one')).toBe(1);
    const after = frames.slice(paused.frames.length);
    expect(after.map(({ type, node_id: id, status }) => (id ? `${id as string} ${status as string}` : type))).toEqual([
      ...['message_id', 'tool_call', 'tool_call', 'answer', 'act completed', 'two running', 'answer', 'two completed'],
      ...['end running', 'answer', 'end completed', 'source', 'tool_calls', 'id', 'end'],
    ]);
  });

  it('is not run if it is denied, and the run continues', async () => {
    const turn = workflow({ requiresApproval: true });
    await turn.begin();
    await turn.process().run('c1', 't1');
    await turn.decide(resume([{ callId: 'k1', decision: 'denied', comment: null }], { userId: 'alice' }, new Date()));
    await turn.process().run('c1', 't1');
    const { run } = await turn.course();
    expect([turn.sent, run.status]).toEqual([[], 'completed']);
    expect(run.steps[2]!.ended!.toolCalls).toMatchObject([{ status: 'denied' }]);
  });

  it('leads to no further step if it expires', async () => {
    const turn = workflow({ requiresApproval: true });
    await turn.begin();
    await turn.process().run('c1', 't1');
    await turn.decide(expire('t1', new Date('2100-01-01')));
    await turn.sweep();
    const { completed, frames } = await turn.course();
    expect([turn.sent, completed, frames.at(-1)!['type']]).toEqual([[], [1, 2], 'end']);
  });

  it('runs at most once, at whichever append its producer dies', async () => {
    let wasDead = true;
    for (let deathAfter = 0; wasDead; deathAfter++) {
      const turn = workflow({ requiresApproval: true });
      await turn.begin();
      await turn.process().run('c1', 't1');
      await turn.decide(approve);
      const store = new MortalStore(turn.log, deathAfter);
      await turn
        .process(store)
        .run('c1', 't1')
        .catch(() => undefined);
      wasDead = store.isDead;
      await turn.sweep();
      const { completed, outcomes, frames, run } = await turn.course();
      expect(turn.sent.length).toBeLessThanOrEqual(1);
      expect(outcomes).toHaveLength(1);
      expect(completed).toEqual([...new Set(completed)]);
      const isInterrupted = frames.some(({ code }) => code === 'interrupted');
      if (!isInterrupted) {
        expect(run.status).toBe('completed');
        expect(answerIn(frames)).toBe('one acted two \n\nThe end.');
      }
    }
  });
});
