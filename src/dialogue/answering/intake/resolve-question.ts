import { Injectable } from '@nestjs/common';
import { AgentQueries, type AgentRecord } from '../../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../../projections/prompts/prompts.queries.js';
import { AttachmentShelf } from '../../../resources/attachments/attachment-shelf.port.js';
import { type Beginning, BEGINNING_EVENTS_MAX } from '../../conversation/conversation-access.policy.js';
import { conversation } from '../../conversation/conversation.decider.js';
import {
  type AttachedFile,
  type CheckedInput,
  type ConversationStarted,
  conversationStream,
  type TurnSettings,
} from '../../conversation/conversation.events.js';
import { keyIdOf, reached, requireAccess, restrictedTokenOf, tokenOf } from '../../../resources/identity/access.policy.js';
import type { NamedByQuestion } from '../../../resources/identity/acts.policy.js';
import { type Caller, ownerOf, signedInUserOf } from '../../../resources/identity/caller.js';
import { Reaching } from '../../../resources/identity/reaching.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Guardrails } from '../../../resources/guardrails/guardrails.port.js';
import { LanguageModels } from '../../../resources/models/model/language-model.port.js';
import { normalSchema } from '../../../resources/models/model/response-schema.policy.js';
import { presetOf } from '../../../resources/prompts/presets.policy.js';
import { CHUNKS_DEFAULT, chunksWithinBounds } from '../../../resources/sources/source/retrieval.policy.js';
import { isForOwnersOnly } from '../../../resources/tools/defaults/default-tools.policy.js';
import { Toolbox, type ToolPin } from '../../../resources/tools/toolbox/toolbox.port.js';
import { ATTACHMENTS_MAX } from '../loop/attached.policy.js';
import { samplingOf } from './llm-params.policy.js';
import type { QuestionRequest } from './question.dto.js';
import { askedByReader, parseHistory, requireLengths, searchedSources, sourceIdsIn } from './question.policy.js';
import { clientToolsOf } from './tool-actions.policy.js';
import { WorkflowPins } from './workflow-pins.js';

/** A question with its caller, agent and settings resolved. */
export type ResolvedQuestion = Readonly<{
  question: string;
  ownerId: string;
  agent: AgentRecord | undefined;
  /** The conversation that the question continues; undefined for a new one. */
  conversationId: string | undefined;
  index: number | null;
  /** Whether `index` must be that of the next question, so that no earlier one is replaced. */
  isNext?: boolean;
  visibility: ConversationStarted['data']['visibility'];
  history: ConversationStarted['data']['history'];
  sharedUsage: boolean;
  settings: TurnSettings;
  /** The result of the guardrails' check of the question. */
  checked?: CheckedInput;
}>;

const conversationNotFound = () => new Rejection('conversation-not-found', 'Conversation not found');
const agentNotFound = () => new Rejection('agent-not-found', 'Agent not found');

/**
 * Resolves the agent and the settings of a question. An agent key has priority, then the agent, then the request's own fields.
 */
@Injectable()
export class QuestionResolver {
  constructor(
    private readonly streams: Streams,
    private readonly agents: AgentQueries,
    private readonly models: LanguageModels,
    private readonly toolbox: Toolbox,
    private readonly attachments: AttachmentShelf,
    private readonly prompts: PromptQueries,
    private readonly guardrails: Guardrails,
    private readonly workflows: WorkflowPins,
    private readonly reaching: Reaching,
  ) {}

  /** @throws Rejection agent-not-found, conversation-not-found, prompt-not-found, model-not-found, attachment-…, invalid-request */
  async resolve(received: QuestionRequest, caller: Caller): Promise<ResolvedQuestion> {
    const request: QuestionRequest = caller.kind === 'link' ? askedByReader(received, caller.terms) : received;
    const question = request.question ?? '';
    if (question.trim() === '') throw new Rejection('invalid-request', 'Missing required fields: question');
    requireLengths(request);
    const history = parseHistory(request.history);
    const ownerId = ownerOf(caller);
    const conversationId = request.conversation_id || undefined;
    const continued = conversationId === undefined ? undefined : await this.continued(conversationId, caller);
    requireAccess(caller, { does: 'ask', question: namedBy(request, continued) });
    const agent = await this.agentFor(request, caller, continued);
    if (!agent && request.prompt_id && !(await this.hasPrompt(request.prompt_id, caller)))
      throw new Rejection('prompt-not-found', 'Prompt not found');
    const modelId = await this.checkedModel(request.model_id, caller, agent);
    return {
      question,
      ownerId,
      agent,
      conversationId,
      // A new conversation has no earlier question that this one could replace.
      index: conversationId === undefined ? null : (request.index ?? null),
      visibility: request.visibility === 'listed' ? 'listed' : 'hidden',
      history,
      sharedUsage: agent !== undefined && agent.ownerId !== ownerId,
      settings: await this.settings(request, caller, agent, modelId),
    };
  }

  /**
   * The agent of the caller's key; otherwise the agent of the conversation, if it still exists.
   * @throws Rejection agent-not-found
   */
  async agentBehind(caller: Caller, agentId: string | null): Promise<AgentRecord | undefined> {
    if (caller.kind === 'agent-key') return this.usable(caller.agentId, caller);
    return agentId === null ? undefined : this.usableIfThere(agentId, caller);
  }

  /** Whether an id names a preset, or a prompt that the caller may use. */
  async hasPrompt(promptId: string, caller: Caller): Promise<boolean> {
    if (presetOf(promptId)) return true;
    const prompt = isId(promptId) ? await this.prompts.byId(promptId) : undefined;
    return this.reaching.isUsable(ownerOf(caller), prompt, 'prompts');
  }

  /**
   * The model that a question names: a model of the service, or one that the caller has added. With an agent of another owner, it
   * may be a model of the service or one of the owner's models that the agent is configured with, but no model of the caller,
   * which must not receive the agent's data.
   * @throws Rejection model-not-found
   */
  private async checkedModel(
    modelId: string | null | undefined,
    caller: Caller,
    agent: AgentRecord | undefined,
  ): Promise<string | undefined> {
    if (!modelId) return undefined;
    const ownerId = agent?.ownerId ?? ownerOf(caller);
    const isOffered = isOwner(caller, ownerId) || modelsOf(agent).includes(modelId);
    if (!(await this.models.has(modelId, isOffered ? ownerId : undefined)))
      throw new Rejection('model-not-found', `model_id names no model of this service: ${modelId}`);
    return modelId;
  }

  private async continued(conversationId: string, caller: Caller): Promise<Beginning> {
    if (!isId(conversationId)) throw conversationNotFound();
    const { state: began } = await this.streams.beginning(conversationStream(conversationId), conversation, BEGINNING_EVENTS_MAX);
    requireAccess(caller, { does: 'join', conversation: began }, conversationNotFound);
    return began;
  }

  /**
   * The agent of the caller's key; otherwise the named agent; otherwise the agent that the conversation was begun with, if it
   * still exists.
   * @throws Rejection agent-not-found if the caller may not use the agent any more
   */
  private async agentFor(request: QuestionRequest, caller: Caller, continued: Beginning | undefined) {
    if (caller.kind === 'agent-key') return this.usable(caller.agentId, caller);
    if (request.agent_id) return this.usable(request.agent_id, caller);
    return continued?.agentId ? this.usableIfThere(continued.agentId, caller) : undefined;
  }

  private async usableIfThere(agentId: string, caller: Caller): Promise<AgentRecord | undefined> {
    const agent = await this.agents.byId(agentId);
    return agent && this.usableBy(caller, agent);
  }

  private async usable(agentId: string, caller: Caller): Promise<AgentRecord> {
    return this.usableBy(caller, isId(agentId) ? await this.agents.byId(agentId) : undefined);
  }

  private async usableBy(caller: Caller, agent: AgentRecord | undefined): Promise<AgentRecord> {
    if (caller.kind === 'user') return this.reaching.reached(caller, agent, 'agents', 'use', agentNotFound);
    return reached(caller, agent, agentNotFound);
  }

  private async settings(request: QuestionRequest, caller: Caller, agent: AgentRecord | undefined, modelId: string | undefined) {
    const configuration = agent?.configuration;
    const token = tokenOf(caller);
    const ownerId = agent?.ownerId ?? ownerOf(caller);
    const model = modelId ?? (await this.modelFor(configuration?.defaultModelId, ownerId));
    const writeAllowlist = isOwner(caller, ownerId) ? null : (configuration?.config.api_write_allowlist ?? []);
    const isReader = caller.kind === 'link';
    // Readers of a link may not use the tools that a workflow's nodes call.
    if (isReader && configuration?.agentType === 'workflow') throw agentNotFound();
    const workflow = await this.workflows.pin(request, caller, agent);
    // The nodes of a workflow have their own tools.
    const pins = await this.pinned(ownerId, model, workflow || isReader ? [] : configuration?.tools);
    const guardrails = this.guardrails.policyFor(configuration?.config.guardrails);
    const systemPrompt = configuration?.allowSystemPromptOverride ? request.system_prompt_override?.trim() : undefined;
    const sampling = samplingOf(request.llm_params);
    const own = configuration ? [configuration.source, ...configuration.additionalSources].filter(Boolean) : [];
    // Web clients send `isNoneDoc` with every agent. It means that the user selected no sources, not that the agent's are ignored.
    const named = request.isNoneDoc && !agent ? [] : request.active_docs;
    const sources = own.length > 0 ? [...new Set(own)] : searchedSources(named);
    return {
      agentId: agent?.id ?? null,
      agentKeyId: keyIdOf(caller),
      ...(token && { accessTokenId: token.id }),
      modelId: model,
      promptId: configuration?.promptId || request.prompt_id || '',
      configurationOwnerId: ownerId,
      sources: sources.map((id) => ({ id })),
      chunks: chunksWithinBounds((configuration ? configuration.chunks : request.chunks) ?? CHUNKS_DEFAULT),
      retriever: (configuration ? configuration.retriever : request.retriever) || 'classic',
      passthrough: request.passthrough ?? {},
      responseSchema: request.json_schema ? normalSchema(request.json_schema) : (configuration?.jsonSchema ?? null),
      tools: writeAllowlist === null ? pins : pins.filter(({ toolId }) => !isForOwnersOnly(toolId)),
      clientTools: clientToolsOf(request.client_tools ?? []),
      agentType: workflow ? 'workflow' : (configuration?.agentType ?? 'classic'),
      ...(workflow && { workflow }),
      writeAllowlist,
      attachments: await this.attached(request.attachments ?? [], caller),
      ...(guardrails && { guardrails }),
      ...(systemPrompt && { systemPrompt }),
      ...(sampling && { sampling }),
    };
  }

  /** Pins the current revisions of the tools, if the model can call tools: the agent's tools, or those of the user's chats. */
  private async pinned(ownerId: string, modelId: string, toolIds: readonly string[] | undefined): Promise<readonly ToolPin[]> {
    if (toolIds?.length === 0) return [];
    const model = await this.models.describe(modelId, ownerId);
    return model?.tools ? this.toolbox.pin(ownerId, toolIds) : [];
  }

  /** The attachments with these ids that were uploaded with a key of the same owner or by the same signed-in user. */
  private async attached(ids: readonly string[], caller: Caller): Promise<readonly AttachedFile[]> {
    if (ids.length === 0) return [];
    if (new Set(ids).size > ATTACHMENTS_MAX)
      throw new Rejection('invalid-request', `attachments must be at most ${ATTACHMENTS_MAX}.`);
    const userIds = [ownerOf(caller), signedInUserOf(caller)?.userId].filter((id) => id !== undefined);
    const picked = await this.attachments.pick(ids, userIds, restrictedTokenOf(caller)?.id);
    return picked.map(({ attachmentId: id, filename, mimeType }) => ({ id, filename, mimeType }));
  }

  private async modelFor(preferred: string | undefined, ownerId: string): Promise<string> {
    return preferred && (await this.models.has(preferred, ownerId)) ? preferred : this.models.defaultModelId();
  }
}

/**
 * Whether the caller is signed in as the owner and so may write with the owner's credentials, also if the request has an agent
 * key.
 */
const isOwner = (caller: Caller, ownerId: string): boolean => signedInUserOf(caller)?.userId === ownerId;

const modelsOf = (agent: AgentRecord | undefined): readonly string[] =>
  agent ? [...agent.configuration.models, agent.configuration.defaultModelId] : [];

const namedBy = (request: QuestionRequest, continued: Beginning | undefined): NamedByQuestion => ({
  agentId: request.agent_id || null,
  sources: sourceIdsIn(request.active_docs),
  promptId: request.prompt_id || null,
  continuedAgentId: continued?.agentId,
  bringsWorkflow: Boolean(request.workflow),
});
