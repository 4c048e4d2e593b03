import { AgentLoop } from '../../src/dialogue/answering/loop/agent-loop.js';
import { AgentAnswers } from '../../src/dialogue/answering/loop/agent-answers.js';
import type { ResearchAnswers } from '../../src/dialogue/answering/research/research-answers.js';
import { AnswerComposer } from '../../src/dialogue/answering/runner/answer-composer.js';
import type { WorkflowAnswers } from '../../src/dialogue/answering/workflow-runs/workflow-answers.js';
import type { AttachedFiles } from '../../src/dialogue/answering/loop/attached-files.js';
import { Continuations } from '../../src/dialogue/answering/continuations/continuations.js';
import type { Blobs } from '../../src/kernel/blobs.js';
import {
  LanguageModels,
  type ModelChunk,
  type ModelDescription,
  type ModelRequest,
} from '../../src/resources/models/model/language-model.port.js';
import { systemIds } from '../../src/platform/system-ids.js';
import type { PromptRenderer } from '../../src/resources/prompts/prompt.port.js';
import type { Search } from '../../src/resources/sources/chunks/search.port.js';
import type { CallContext } from '../../src/resources/tools/toolbox/tool-kind.port.js';
import { type OfferedAction, OpenTools, Toolbox } from '../../src/resources/tools/toolbox/toolbox.port.js';
import type { Commands } from '../../src/kernel/commands.js';
import { noGuards } from './guardrails.js';
import { answeringOptions } from './turns.js';

export type Chunks = Iterable<ModelChunk> | AsyncIterable<ModelChunk>;

export const MODEL: ModelDescription = {
  id: 'scripted',
  provider: 'scripted',
  displayName: 'Scripted',
  description: '',
  attachmentTypes: [],
  tools: true,
  structuredOutput: true,
  streaming: true,
  contextWindow: 1_000_000,
  reasoningEffort: null,
};

/** A model that answers each request by its script. It keeps every request. */
export class ScriptedModels extends LanguageModels {
  readonly requests: ModelRequest[] = [];

  constructor(
    private readonly script: (request: ModelRequest, signal: AbortSignal) => Chunks,
    private readonly model: ModelDescription = MODEL,
  ) {
    super();
  }

  override async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    this.requests.push(request);
    for await (const chunk of this.script(request, signal)) {
      if (signal.aborted) return;
      yield chunk;
    }
  }

  override list = () => Promise.resolve([this.model]);
  override defaultModelId = () => Promise.resolve(this.model.id);
  override has = (id: string) => Promise.resolve(id === this.model.id);
}

export const text = (words: string): ModelChunk => ({ type: 'text', text: words });
export const toolCall = (id: string, name: string, args: unknown = {}): ModelChunk => ({
  type: 'tool-call',
  id,
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
});

/** The number of the round: how often the model has answered so far in this turn. */
export const roundOf = ({ messages }: ModelRequest): number => messages.filter(({ role }) => role === 'assistant').length;

/** The results that the model was given for its calls, by call id. */
export const resultsIn = ({ messages }: ModelRequest): Record<string, string> =>
  Object.fromEntries(messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message.content]] : [])));

/** A read-only action without approval, unless given otherwise. */
export const offeredAction = (actionName: string, more: Partial<OfferedAction> = {}): OfferedAction => ({
  toolId: 'tool-1',
  toolName: 'api_tool',
  actionName,
  description: `Does ${actionName}`,
  parameters: { type: 'object', properties: {} },
  access: 'read',
  idempotent: false,
  requiresApproval: false,
  ownerCredentials: false,
  ...more,
});

type Arguments = Readonly<Record<string, unknown>>;
export type Ran = Readonly<{ name: string; args: Arguments; context: CallContext }>;

/** Tools that record what is run and behave as the test specifies. */
export class ToolsForTests extends OpenTools {
  readonly ran: Ran[] = [];
  override readonly notices: readonly string[] = [];

  constructor(
    override readonly actions: readonly OfferedAction[],
    private readonly does: (call: Ran) => unknown = ({ name }) => `${name} is done`,
  ) {
    super();
  }

  get names(): readonly string[] {
    return this.ran.map(({ name }) => name);
  }

  override async run({ actionName: name }: OfferedAction, args: Arguments, context: CallContext): Promise<unknown> {
    const call = { name, args, context };
    this.ran.push(call);
    return this.does(call);
  }
}

export class ToolboxForTests extends Toolbox {
  constructor(private readonly tools: OpenTools) {
    super();
  }

  override pin = () => Promise.resolve(this.tools.actions.map(({ toolId }) => ({ toolId, revision: 0 })));
  override open = () => Promise.resolve(this.tools);
}

/** The settings of a turn that may use the tools. */
export const WITH_TOOLS = { tools: [{ toolId: 'tool-1', revision: 0 }] } as const;

const NOTHING_FOUND = { search: async () => ({ chunks: [], failedSources: [] }) } as unknown as Search;

/** For agents that do no research. */
export const NO_RESEARCH = {} as ResearchAnswers;

/** A composer with real components between turn and model, except that searches find nothing and the prompt is empty. */
export const composerOver = (
  models: LanguageModels,
  tools: OpenTools,
  blobs: Blobs,
  search = NOTHING_FOUND,
  research = NO_RESEARCH,
  guards = noGuards({} as Commands),
): AnswerComposer => new AnswerComposer(agentsOver(models, tools, blobs, search), research, {} as WorkflowAnswers, guards);

/** The same for a single agent. */
export function agentsOver(models: LanguageModels, tools: OpenTools, blobs: Blobs, search = NOTHING_FOUND): AgentAnswers {
  const prompts = { render: async () => ({ text: '', holdsDocuments: false }) } as unknown as PromptRenderer;
  const loop = new AgentLoop(models, new ToolboxForTests(tools), systemIds);
  const clock = { now: () => new Date() };
  const attached = { give: async () => ({ parts: [], documents: [], tokens: 0, notices: [] }) } as unknown as AttachedFiles;
  return new AgentAnswers(search, prompts, models, loop, new Continuations(blobs), clock, answeringOptions, attached);
}
