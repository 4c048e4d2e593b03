import { Injectable } from '@nestjs/common';
import { Reaching } from '../../identity/reaching.js';
import { ToolQueries } from '../../../../projections/tools/tools.queries.js';
import { ANSWER_PATIENCE_MS, type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { mayRunLong } from './long-calls.policy.js';
import {
  CredentialsMissing,
  CredentialsUnreadable,
  CredentialVault,
} from '../../../platform/credentials/credential-vault.port.js';
import { defaultTools } from '../defaults/default-tools.decider.js';
import { defaultToolsStream } from '../defaults/default-tools.events.js';
import { AGENTIC_TOOLS, builtInToolId, DEFAULT_TOOLS, defaultToolId, defaultToolOf } from '../defaults/default-tools.policy.js';
import { type OpenedTool, OpenedTools } from './opened-tools.js';
import type { Tool } from './tool.decider.js';
import type { ToolDefinition } from './tool.events.js';
import { ToolHistory } from './tool-history.js';
import { ToolFailed, type ToolKind } from './tool-kind.port.js';
import { ToolKinds } from './tool-kinds.js';
import { type OpenTools, Toolbox, type ToolPin, type ToolScope } from './toolbox.port.js';

/** Tools of the service have no stream and thus no revision. */
const NO_REVISION = 0;
const CHECK_JOB = 'check_job';

/** Messages for tools that have changed since the question was accepted. */
export const REMOVED = 'This tool has been removed.';
export const PUT_AWAY = 'This tool has been switched off.';
export const ACTION_PUT_AWAY = 'This action has been switched off or removed.';
export const NOT_SHARED = 'This tool is not shared with you any more.';
export const CREDENTIALS_REPLACED = 'The credentials of this tool have been replaced since this answer began. Please ask again.';
export const CREDENTIALS_UNREADABLE = 'The stored credentials of this tool cannot be read. Its owner has to enter them again.';

/** Reads tools from their streams, at the revisions that turns have pinned. */
@Injectable()
export class StoredToolbox extends Toolbox {
  constructor(
    private readonly queries: ToolQueries,
    private readonly history: ToolHistory,
    private readonly streams: Streams,
    private readonly kinds: ToolKinds,
    private readonly vault: CredentialVault,
    private readonly reaching: Reaching,
  ) {
    super();
  }

  async pin(ownerId: string, toolIds: readonly string[] | undefined): Promise<readonly ToolPin[]> {
    const granted = await this.granted(ownerId, toolIds);
    const [own, defaults] = await Promise.all([
      this.queries.switchedOn(ownerId, toolIds, granted),
      this.defaults(ownerId, toolIds),
    ]);
    return [
      ...own.map(({ id, revision }) => ({ toolId: id, revision })),
      ...defaults.map((name) => ({ toolId: defaultToolId(name), revision: NO_REVISION })),
    ];
  }

  /**
   * The tools of other users that an agent names and that its owner may use by a grant. A chat without an agent has only the
   * user's own tools.
   */
  private async granted(ownerId: string, toolIds: readonly string[] | undefined): Promise<readonly string[]> {
    const named = (toolIds ?? []).filter((id) => defaultToolOf(id) === undefined);
    return named.length === 0 ? [] : [...(await this.reaching.usable(ownerId, 'tools', named))];
  }

  async open(scope: ToolScope): Promise<OpenTools> {
    const pinned = await Promise.all(scope.pins.map((pin) => this.pinned(pin, scope)));
    const tools = pinned.filter((each) => typeof each !== 'string');
    return new OpenedTools(
      [...tools, ...this.agentic(scope), ...this.aboutJobs(tools, scope)],
      pinned.filter((each) => typeof each === 'string'),
      (work, signal) => this.patiently(work, signal),
    );
  }

  /** The default tools that an agent lists. Without an agent, those that the user has not switched off. */
  private async defaults(ownerId: string, toolIds: readonly string[] | undefined): Promise<readonly string[]> {
    const known = DEFAULT_TOOLS.filter((name) => this.kinds.byName(name));
    if (toolIds) return known.filter((name) => toolIds.includes(defaultToolId(name)));
    const off = await this.queries.switchedOffDefaults(ownerId);
    return known.filter((name) => !off.has(name));
  }

  /** The tool, or the notice for the user if it is not available. */
  private async pinned(pin: ToolPin, scope: ToolScope): Promise<OpenedTool | string> {
    const { toolId } = pin;
    const { ownerId } = scope;
    const name = defaultToolOf(toolId);
    if (name !== undefined) {
      const kind = this.kinds.byName(name);
      if (!kind) return unavailable(name);
      return {
        ...ofService(toolId, ownerId, kind),
        admit: (_action, signal) => this.patiently(() => this.admitDefault(name, scope), signal),
      };
    }
    const folded = await this.patiently(() => this.history.at(pin));
    const { definition, ownerId: owner } = folded.state;
    if (!definition || !(await this.reaching.isUsable(ownerId, { id: toolId, ownerId: owner }, 'tools')))
      return unavailable(toolId);
    const kind = this.kinds.byName(definition.name);
    if (!kind) return unavailable(definition.customName || definition.displayName);
    // A tool uses the credentials of its own owner, whoever calls it.
    return {
      toolId,
      ownerId: owner,
      kind,
      definition,
      admit: (action, signal) => this.patiently(() => this.admit(pin, action, folded, definition, scope), signal),
    };
  }

  private patiently<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.streams.retryWhileUnavailable(ANSWER_PATIENCE_MS, work, signal);
  }

  private agentic({ agentType, hasSources, ownerId }: ToolScope): readonly OpenedTool[] {
    if (agentType !== 'agentic') return [];
    const wanted = AGENTIC_TOOLS.filter(({ needsSources }) => hasSources || !needsSources);
    const kinds = wanted.flatMap(({ name }) => this.kinds.byName(name) ?? []);
    return kinds.map((kind) => ({ ...ofService(builtInToolId(kind.name), ownerId, kind), admit: () => Promise.resolve({}) }));
  }

  /** The tool for checking jobs, if any tool of the turn can continue as a job. */
  private aboutJobs(tools: readonly OpenedTool[], { ownerId }: ToolScope): readonly OpenedTool[] {
    const kind = tools.some((tool) => mayRunLong(tool.kind.name)) ? this.kinds.byName(CHECK_JOB) : undefined;
    return kind ? [{ ...ofService(builtInToolId(kind.name), ownerId, kind), admit: () => Promise.resolve({}) }] : [];
  }

  private async admit(
    { toolId }: ToolPin,
    action: string,
    folded: Folded<Tool>,
    pinned: ToolDefinition,
    { ownerId: userId }: ToolScope,
  ) {
    const { status, definition, ownerId } = await this.history.since(toolId, folded);
    if (status !== 'there' || !definition) throw new ToolFailed(REMOVED);
    if (!definition.status) throw new ToolFailed(PUT_AWAY);
    if (!(await this.reaching.isUsable(userId, { id: toolId, ownerId }, 'tools'))) throw new ToolFailed(NOT_SHARED);
    if (!definition.actions.some(({ name, active }) => name === action && active)) throw new ToolFailed(ACTION_PUT_AWAY);
    const { credentialsId } = pinned;
    if (definition.credentialsId !== credentialsId) throw new ToolFailed(CREDENTIALS_REPLACED);
    if (credentialsId === null) return {};
    return this.vault.reveal(ownerId, credentialsId).catch((error: unknown) => {
      if (error instanceof CredentialsMissing) throw new ToolFailed(CREDENTIALS_REPLACED);
      throw error instanceof CredentialsUnreadable ? new ToolFailed(CREDENTIALS_UNREADABLE, { cause: error }) : error;
    });
  }

  private async admitDefault(name: string, { ownerId, agentId }: ToolScope) {
    if (agentId !== null) return {};
    const { state } = await this.streams.fold(defaultToolsStream(ownerId), defaultTools);
    if (state.off.includes(name)) throw new ToolFailed(PUT_AWAY);
    return {};
  }
}

const unavailable = (name: string): string => `The tool ${name} is not available.`;

const ofService = (toolId: string, ownerId: string, kind: ToolKind) => {
  const { name, displayName, description, actions } = kind;
  const definition = { name, displayName, customName: '', description, config: {}, credentialsId: null, actions, status: true };
  return { toolId, ownerId, kind, definition };
};
