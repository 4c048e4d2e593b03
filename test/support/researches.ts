import { AgentLoop } from '../../src/dialogue/answering/loop/agent-loop.js';
import type { AttachedFiles } from '../../src/dialogue/answering/loop/attached-files.js';
import { Continuations } from '../../src/dialogue/answering/continuations/continuations.js';
import { AgentPrompt } from '../../src/dialogue/answering/research/agent-prompt.js';
import { KeptFindings } from '../../src/dialogue/answering/research/kept-findings.js';
import { ResearchAnswers } from '../../src/dialogue/answering/research/research-answers.js';
import { ResearchSteps } from '../../src/dialogue/answering/research/research-steps.js';
import {
  AskResearchClarificationHandler,
  RecordResearchPlanHandler,
  RecordResearchReportHandler,
} from '../../src/dialogue/answering/research/research.commands.js';
import type { Blobs } from '../../src/kernel/blobs.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import type { Timing } from '../../src/kernel/timing.js';
import { systemIds } from '../../src/platform/system-ids.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import type { LanguageModels, ModelChunk, ModelRequest } from '../../src/resources/models/model/language-model.port.js';
import type { PromptRenderer } from '../../src/resources/prompts/prompt.port.js';
import type { Search } from '../../src/resources/sources/chunks/search.port.js';
import type { OpenTools } from '../../src/resources/tools/toolbox/toolbox.port.js';
import { type CompletionRequest, say, type Script, type SeenRequest, type Step } from './scripted-model-server.js';
import { commandsOver } from './commands-over.js';
import { answeringOptions } from './turns.js';
import { text, ToolboxForTests } from './tool-turns.js';

/** The ports of one process that research uses. */
export type ResearchPorts = Readonly<{
  store: EventStore;
  models: LanguageModels;
  tools: OpenTools;
  blobs: Blobs;
  search: Search;
  timing?: Timing;
}>;

export function researchOver({ store, models, tools, blobs, search, timing = systemTiming }: ResearchPorts): ResearchAnswers {
  const streams = new Streams(store, timing);
  const commands = commandsOver(
    new AskResearchClarificationHandler(streams),
    new RecordResearchPlanHandler(streams),
    new RecordResearchReportHandler(streams),
  );
  const prompts = { render: async () => ({ text: 'The prompt.', holdsDocuments: false }) } as unknown as PromptRenderer;
  const prompt = new AgentPrompt(prompts, { now: () => new Date() }, answeringOptions);
  const loop = new AgentLoop(models, new ToolboxForTests(tools), systemIds);
  const attached = { give: async () => ({ parts: [], documents: [], tokens: 0, notices: [] }) } as unknown as AttachedFiles;
  const steps = new ResearchSteps(loop, search, prompt);
  return new ResearchAnswers(
    models,
    prompt,
    loop,
    steps,
    attached,
    new Continuations(blobs),
    new KeptFindings(blobs),
    streams,
    commands,
    timing,
  );
}

/** The task that a research gives a model. It is recognised by the instructions. */
export type ResearchTask = 'clarify' | 'plan' | 'step' | 'answer';

type Asked = Readonly<{ messages: readonly Readonly<{ role: string; content?: unknown }>[] }>;

export function taskOf({ messages }: Asked): ResearchTask {
  const instructions = JSON.stringify(messages[0]?.content ?? '').slice(1);
  if (instructions.startsWith('You prepare research')) return 'clarify';
  if (instructions.startsWith('You plan research')) return 'plan';
  return instructions.includes('one step of a larger research') ? 'step' : 'answer';
}

/** The query of the research step in a request. */
export const queryOf = ({ messages }: Asked): string =>
  /Query of this step: (.*)/
    .exec(JSON.stringify(messages.find(({ role }) => role === 'user')?.content))?.[1]
    ?.split(/\\n|"/)[0] ?? '';

const NOTHING_UNCLEAR = '{"needs_clarification": false, "question": ""}';

const planText = (queries: readonly string[], complexity = 'moderate'): string =>
  JSON.stringify({ complexity, steps: queries.map((query) => ({ query, rationale: `Why ${query}` })) });

/** A model that plans these queries and answers each task as specified, by default with a sentence. */
export const researcher =
  (queries: readonly string[], more: Partial<Record<ResearchTask, (request: ModelRequest) => readonly ModelChunk[]>> = {}) =>
  (request: ModelRequest): readonly ModelChunk[] => {
    const task = taskOf(request);
    const own = more[task]?.(request);
    if (own) return own;
    if (task === 'clarify') return [text(NOTHING_UNCLEAR)];
    if (task === 'plan') return [text(planText(queries))];
    return [text(task === 'step' ? `Report on ${queryOf(request)}.` : 'The answer.')];
  };

/** The same over HTTP: the response of a scripted endpoint to each task, by default a sentence. */
export function researchScript(
  queries: readonly string[],
  more: Partial<Record<string, (request: CompletionRequest) => readonly Step[] | undefined>> = {},
): Script {
  const words: Readonly<Record<string, string>> = { clarify: NOTHING_UNCLEAR, plan: planText(queries), answer: 'The answer.' };
  return (request) => {
    const task = taskOf(request);
    const name = task === 'step' ? queryOf(request) : task;
    return more[name]?.(request) ?? say(words[name] ?? `Report on ${name}.`);
  };
}

/** The research requests to an endpoint, in order: the task, or for a step its query. */
export const tasksOf = (requests: readonly SeenRequest[]): readonly string[] =>
  requests.map(({ body }) => (taskOf(body) === 'step' ? queryOf(body) : taskOf(body)));
