import { researchStream } from '../../src/dialogue/answering/research/research.events.js';
import type { BackgroundCalls } from '../../src/dialogue/answering/loop/background-calls.port.js';
import { conversation } from '../../src/dialogue/conversation/conversation.decider.js';
import {
  type AnswerParts,
  conversationStream,
  type TurnSettings,
  type Usage,
} from '../../src/dialogue/conversation/conversation.events.js';
import { resume } from '../../src/dialogue/conversation/pause.decider.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import type { Timing } from '../../src/kernel/timing.js';
import { InProcessSignals } from '../../src/platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { ModelChunk, ModelRequest } from '../../src/resources/models/model/language-model.port.js';
import type { Search, SearchRequest } from '../../src/resources/sources/chunks/search.port.js';
import type { OfferedAction } from '../../src/resources/tools/toolbox/toolbox.port.js';
import { InMemoryBlobs } from './in-memory-blobs.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { MortalStore } from './mortal-store.js';
import { queryOf, researcher, researchOver, type ResearchTask, taskOf } from './researches.js';
import { composerOver, type Ran, ScriptedModels, ToolsForTests, WITH_TOOLS } from './tool-turns.js';
import { askedTurn, bringFurther, cause, eventsOf, framesOf, workerOver } from './turns.js';

export const usageChunk = (tokens: number): ModelChunk => ({ type: 'usage', promptTokens: tokens, completionTokens: 0 });

export type ResearchSetup = Readonly<{
  queries?: readonly string[];
  more?: Partial<Record<ResearchTask, (request: ModelRequest) => readonly ModelChunk[]>>;
  actions?: readonly OfferedAction[];
  does?: (call: Ran) => unknown;
  settings?: Partial<TurnSettings>;
  search?: (request: SearchRequest) => unknown;
  timing?: Timing;
  calls?: BackgroundCalls;
}>;

/** A research of one question, run by any number of processes. */
export function researchTurn({
  queries = ['q1', 'q2'],
  more,
  actions = [],
  does,
  settings,
  search,
  timing = systemTiming,
  calls,
}: ResearchSetup = {}) {
  const log = new InMemoryEventStore();
  const blobs = new InMemoryBlobs();
  const signals = new InProcessSignals();
  const models = new ScriptedModels(researcher(queries, more));
  const effects: string[] = [];
  const searching = {
    search: async (request: SearchRequest) => search?.(request) ?? { chunks: [], failedSources: [] },
  } as unknown as Search;
  const process = (store = new MortalStore(log)) => {
    const tools = new ToolsForTests(actions, (call) => {
      effects.push(call.name);
      return does ? does(call) : { done: call.name };
    });
    const research = researchOver({ store, models, tools, blobs, search: searching, timing });
    const composer = composerOver(models, tools, blobs, searching, research);
    return workerOver(store, signals, composer, blobs, undefined, undefined, calls).runner;
  };
  const streams = new Streams(log, systemTiming);
  const frames = () => framesOf(log, 't1');
  return {
    log,
    models,
    effects,
    process,
    frames,
    begin: () => askedTurn(log, 'c1', 't1', { ...WITH_TOOLS, agentType: 'research', ...settings }),
    /** The requests to the model in order: the query of a step, otherwise the task. */
    tasks: () => models.requests.map((request) => (taskOf(request) === 'step' ? queryOf(request) : taskOf(request))),
    outline: async () => (await frames()).map(frameOutline),
    outcome: async () => {
      const stored = (await eventsOf(log, conversationStream('c1'))).find(({ type }) => type === 'TurnAnswered');
      return JSON.parse(stored?.data ?? '{}') as AnswerParts & Readonly<{ usage: Usage | null }>;
    },
    facts: async () => (await eventsOf(log, researchStream('t1'))).map(({ type }) => type),
    approve: (callId: string, decision: 'approved' | 'denied' = 'approved') =>
      streams.transact(
        conversationStream('c1'),
        conversation,
        resume(
          [decision === 'denied' ? { callId, decision, comment: null } : { callId, decision }],
          { userId: 'alice' },
          new Date(),
        ),
        cause,
      ),
    sweep: async () => {
      const sweeper = process();
      await sweeper.run('c1', 't1');
      await bringFurther(sweeper, 'c1', 't1');
    },
  };
}

/** A frame in one line: its type, its status or code, and its step. */
export function frameOutline(frame: Record<string, unknown>): string {
  const { status, step } = (frame['data'] ?? {}) as { status?: string; step?: number };
  const { type, code } = frame as { type: string; code?: string };
  return [type, status ?? code, step].filter((part) => part !== undefined).join(' ');
}

/** A research that one process has run to its end. */
export async function completeResearch(given: ResearchSetup = {}) {
  const research = researchTurn(given);
  await research.begin();
  await research.process().run('c1', 't1');
  return research;
}

/** The outlines of the frames of one step, of an end, of a plan, and of a research with two steps. */
export const stepFrames = (number: number) => [`research_progress researching ${number}`, `research_progress complete ${number}`];
export const END_FRAMES = ['source', 'tool_calls', 'id', 'end'];
export const PLAN_FRAMES = ['message_id', 'research_progress planning', 'research_plan'];
export const TWO_STEP_FRAMES = [
  ...PLAN_FRAMES,
  ...stepFrames(1),
  ...stepFrames(2),
  'research_progress synthesizing',
  'answer',
  ...END_FRAMES,
];
