import { conversation } from '../../src/dialogue/conversation/conversation.decider.js';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { resume } from '../../src/dialogue/conversation/pause.decider.js';
import type { Decide } from '../../src/dialogue/conversation/turn.policy.js';
import { workflowRunIdOf, workflowRunStream } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { ModelRequest } from '../../src/resources/models/model/language-model.port.js';
import { InMemoryBlobs } from './in-memory-blobs.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { offeredAction, roundOf, ScriptedModels, text, toolCall, ToolsForTests } from './tool-turns.js';
import { askedTurn, bringFurther, cause, eventsOf, framesOf, workerOver } from './turns.js';
import { inARow, node, RUNS_WORKFLOW, workflowRunOf, workflowsOver } from './workflows.js';

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

/** A turn of this workflow, run by any number of processes. */
export function effectsWorkflow({ streams = true, requiresApproval = false, isFickle = false } = {}) {
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

/** The text of the answer in frames. */
export const answerIn = (frames: readonly Record<string, unknown>[]) =>
  frames.flatMap(({ type, answer }) => (type === 'answer' ? [answer as string] : [])).join('');
/** How often a question was put to a model, without the rounds after tool calls. */
export const asked = (models: ScriptedModels, question: string) =>
  models.requests.filter((request) => request.question === question && roundOf(request) === 0).length;

/** The approval of the call. */
export const approve: Decide = (state) =>
  resume([{ callId: 'k1', decision: 'approved' }], { userId: 'alice' }, new Date())(state);
