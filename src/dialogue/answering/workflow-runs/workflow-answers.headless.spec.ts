import { expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MortalStore } from '../../../../test/support/mortal-store.js';
import { offeredAction, roundOf, ScriptedModels, text, toolCall, ToolsForTests } from '../../../../test/support/tool-turns.js';
import { turnSettings } from '../../../../test/support/turn-settings.js';
import { cause, eventsOf } from '../../../../test/support/turns.js';
import { inARow, node, RUNS_WORKFLOW, workflowRunOf, workflowsOver } from '../../../../test/support/workflows.js';
import type { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { systemTiming } from '../../../platform/system-timing.js';
import { ModelFailed, type ModelRequest } from '../../../resources/models/model/language-model.port.js';
import type { CalledTool } from '../../conversation/conversation.events.js';
import type { QuestionResolver } from '../intake/resolve-question.js';
import { RepeatedCalls } from '../loop/repeated-calls.policy.js';
import type { HeadlessWork } from '../runner/headless-answering.port.js';
import { HeadlessAnswers } from '../runner/headless-answers.js';
import { workflowRunIdOf, workflowRunStream } from './run/workflow-run.events.js';

Logger.overrideLogger(false);

const agent = (id: string) => node(id, 'agent', { prompt_template: id, tools: ['tool-1'] });
const GRAPH = inARow([agent('one'), agent('two')], 'The end.');
/** Each node makes the same call and then reports it. */
const sends = (request: ModelRequest) =>
  roundOf(request) === 0 ? [toolCall('k1', 'send', { to: 'bob' })] : [text(`${request.question} sent `)];

/** A headless run with any number of attempts. Its effects are recorded as in runs of webhooks. */
function headlessRun(says: (request: ModelRequest) => Iterable<ReturnType<typeof text>> = sends, requiresApproval = false) {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const models = new ScriptedModels(says);
  const sent: string[] = [];
  const effects: { call: CalledTool; end: { status: 'completed' | 'error' | 'denied'; result: string } | null }[] = [];
  let attempts = 0;
  const attempt = (store: EventStore = log) => {
    const tools = new ToolsForTests([offeredAction('send', { access: 'write', requiresApproval })], ({ name }) => {
      sent.push(name);
      return 'sent';
    });
    const repeated = new RepeatedCalls();
    const streams = new Streams(store, systemTiming);
    const answers = new HeadlessAnswers({} as QuestionResolver, workflowsOver(store, GRAPH, models, tools, blobs), streams);
    const work: HeadlessWork = {
      runId: 'r1',
      attempt: ++attempts,
      ownerId: 'alice',
      input: 'Go!',
      settings: turnSettings({ modelId: 'scripted', ...RUNS_WORKFLOW }),
      cause,
      ledger: {
        begin: async (call) => {
          const before = repeated.next(call, effects.slice());
          if (before !== undefined) return effects[before]!;
          effects.push({ call, end: null });
          return undefined;
        },
        finish: async (callId, status, result) =>
          void Object.assign(
            effects.findLast(({ call }) => call.callId === callId)!,
            { end: { status, result } },
          ),
      },
      callIdsTaken: new Set(effects.map(({ call }) => call.callId)),
      used: () => undefined,
      signal: new AbortController().signal,
    };
    return answers.answer(work);
  };
  return { log, models, sent, attempt };
}

it('a later attempt of a headless run repeats no completed step and includes them in the answer', async () => {
  let wasDead = true;
  let skipped = 0;
  for (let deathAfter = 0; wasDead; deathAfter++) {
    const { log, models, sent, attempt } = headlessRun();
    const store = new MortalStore(log, deathAfter);
    await attempt(store).catch(() => undefined);
    wasDead = store.isDead;
    const madeBefore = (await workflowRunOf(log, 'r1')).steps.filter(({ status }) => status === 'completed').length;
    const { parts, error } = await attempt();
    expect([parts.answer, error]).toEqual(['one sent two sent \n\nThe end.', null]);
    expect(parts.toolCalls.map(({ status }) => status)).toEqual(['completed', 'completed']);
    // The equal calls of the two nodes are two effects, each of which happens once.
    expect(sent).toEqual(['send', 'send']);
    const askedOfFirst = models.requests.filter((request) => request.question === 'one' && roundOf(request) === 0);
    if (madeBefore >= 2) expect(askedOfFirst).toHaveLength(1);
    if (madeBefore >= 2) skipped++;
    const run = await workflowRunOf(log, 'r1');
    expect([run.status, run.started!.origin]).toEqual(['completed', { kind: 'run', runId: 'r1' }]);
    const made = (await eventsOf(log, workflowRunStream(workflowRunIdOf('r1')))).filter(({ type }) => type === 'NodeCompleted');
    expect(made).toHaveLength(4);
  }
  expect(skipped).toBeGreaterThan(2);
});

it('a headless run with a failing node has the answer so far and is recorded as failed', async () => {
  const { log, attempt } = headlessRun(function* (request) {
    yield text('So far. ');
    if (request.question === 'two') throw new ModelFailed('overloaded', 'The model is busy.', true);
  });
  const { parts, error } = await attempt();
  expect([parts.answer, error]).toEqual(['So far. So far. ', { text: 'The model is busy.', code: 'overloaded' }]);
  expect((await workflowRunOf(log, 'r1')).finished).toMatchObject({ status: 'failed', reason: 'node_failed' });
  // A further attempt returns the same error.
  expect((await attempt()).error).toEqual({ text: 'The model is busy.', code: 'overloaded' });
});

it('a headless run denies a call that needs approval and continues', async () => {
  const { log, sent, attempt } = headlessRun(sends, true);
  const { parts } = await attempt();
  expect([sent, parts.toolCalls.map(({ status }) => status)]).toEqual([[], ['denied', 'denied']]);
  const run = await workflowRunOf(log, 'r1');
  expect([run.status, run.steps[1]!.ended!.toolCalls.map(({ status }) => status)]).toEqual(['completed', ['denied']]);
});
