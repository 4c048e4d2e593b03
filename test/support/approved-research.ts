import { expect } from '@jest/globals';
import { conversation } from '../../src/dialogue/conversation/conversation.decider.js';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { resume } from '../../src/dialogue/conversation/pause.decider.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { ModelRequest } from '../../src/resources/models/model/language-model.port.js';
import type { Search } from '../../src/resources/sources/chunks/search.port.js';
import { InMemoryBlobs } from './in-memory-blobs.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { queryOf, researcher, researchOver } from './researches.js';
import { offeredAction, roundOf, ScriptedModels, text, toolCall, ToolsForTests } from './tool-turns.js';
import { askedTurn, cause, framesOf, workerOver } from './turns.js';
import { inARow, node, RUNS_WORKFLOW, workflowsOver } from './workflows.js';

/** A workflow with a research node, whose tool needs approval. */
const GRAPH = inARow([node('dig', 'agent', { agent_type: 'research', tools: ['tool-1'] })], 'End.');
const ACTIONS = [offeredAction('send', { access: 'write', requiresApproval: true })];
/** The first step of the plan calls the tool once. */
const step = (request: ModelRequest) =>
  roundOf(request) === 0 && queryOf(request) === 'q1' ? [toolCall('k1', 'send')] : [text(`Report on ${queryOf(request)}.`)];

/** A turn that waited for the approval of the call and has got it, run by any number of processes. */
export async function approvedResearch() {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const sent: string[] = [];
  const models = new ScriptedModels(researcher(['q1', 'q2'], { step }));
  const search = { search: async () => ({ chunks: [], failedSources: [] }) } as unknown as Search;
  const process = (store: EventStore = log) => {
    const tools = new ToolsForTests(ACTIONS, ({ name }) => {
      sent.push(name);
      return 'sent';
    });
    const research = researchOver({ store, models, tools, blobs, search });
    const composer = workflowsOver(store, GRAPH, models, tools, blobs, undefined, research);
    return workerOver(store, new InProcessSignals(), composer, blobs).runner;
  };
  await askedTurn(log, 'c1', 't1', RUNS_WORKFLOW);
  await process().run('c1', 't1');
  const before = await framesOf(log, 't1');
  expect([before.at(-3)!['type'], sent]).toEqual(['tool_calls_pending', []]);
  await new Streams(log, systemTiming).transact(
    conversationStream('c1'),
    conversation,
    resume([{ callId: 'k1', decision: 'approved' }], { userId: 'alice' }, new Date()),
    cause,
  );
  return { log, models, sent, process, before };
}

type Shown = Readonly<{ type: string; node_id?: string; status?: string; data?: Readonly<{ status?: string; step?: number }> }>;

/** The frames of steps and of their research as short texts. */
export const ofResearch = (frames: readonly Record<string, unknown>[]): readonly string[] =>
  (frames as readonly Shown[])
    .filter(({ type }) => ['workflow_step', 'research_plan', 'research_progress'].includes(type))
    .map(({ type, node_id: id, status, data }) =>
      [type, id, status, data?.status, data?.step].filter((part) => part !== undefined).join(' '),
    );
