import { workflowRunIdOf, workflowRunStream } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import { conversationStream, type TurnSettings } from '../../src/dialogue/conversation/conversation.events.js';
import type { BackgroundCalls } from '../../src/dialogue/answering/loop/background-calls.port.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import type { ModelChunk, ModelRequest } from '../../src/resources/models/model/language-model.port.js';
import type { Search } from '../../src/resources/sources/chunks/search.port.js';
import type { WorkflowGraph } from '../../src/resources/workflows/workflow-graph.policy.js';
import { InMemoryBlobs } from './in-memory-blobs.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { researchOver } from './researches.js';
import { ScriptedModels, text, ToolsForTests } from './tool-turns.js';
import { askedTurn, eventsOf, framesOf, workerOver } from './turns.js';
import { RUNS_WORKFLOW, workflowRunOf, workflowsOver } from './workflows.js';

type WorkflowSetup = Readonly<{
  says?: (request: ModelRequest) => Iterable<ModelChunk>;
  tools?: ToolsForTests;
  settings?: Partial<TurnSettings>;
  calls?: BackgroundCalls;
}>;

/** Runs a turn of a workflow agent and returns its frames and its records. By default the model repeats the question. */
export async function runWorkflow(
  graph: WorkflowGraph,
  { says, tools = new ToolsForTests([]), settings = {}, calls }: WorkflowSetup = {},
) {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const models = new ScriptedModels(says ?? (({ question }) => [text(`${question}!`)]));
  const search = { search: async () => ({ chunks: [], failedSources: [] }) } as unknown as Search;
  const research = researchOver({ store: log, models, tools, blobs, search });
  const composer = workflowsOver(log, graph, models, tools, blobs, undefined, research);
  await askedTurn(log, 'c1', 't1', { ...RUNS_WORKFLOW, ...settings });
  await workerOver(log, new InProcessSignals(), composer, blobs, undefined, undefined, calls).runner.run('c1', 't1');
  const frames = await framesOf(log, 't1');
  const outcome = (await eventsOf(log, conversationStream('c1'))).find(
    ({ type }) => type.startsWith('TurnAn') || type.startsWith('TurnFa'),
  )!;
  return {
    log,
    models,
    frames,
    steps: frames.filter(({ type }) => type === 'workflow_step'),
    answer: frames.flatMap(({ type, answer }) => (type === 'answer' ? [answer as string] : [])).join(''),
    outcome: { type: outcome.type, data: JSON.parse(outcome.data) as Record<string, unknown> },
    run: await workflowRunOf(log, 't1'),
    recorded: (await eventsOf(log, workflowRunStream(workflowRunIdOf('t1')))).map(({ type }) => type),
  };
}

/** Frames in short: a step by its node and status, others by their type. */
export const briefFrames = (frames: readonly Record<string, unknown>[]) =>
  frames.map((frame) =>
    frame['type'] === 'workflow_step' ? `${frame['node_id'] as string} ${frame['status'] as string}` : frame['type'],
  );
