import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { ActionDefinition, ToolDefinition } from './tool.events.js';

/** A field of a tool's configuration, as a form shows it. The value of a secret field is stored encrypted. */
export type ConfigField = Readonly<{
  type: 'string' | 'number' | 'boolean';
  label: string;
  description: string;
  required: boolean;
  secret: boolean;
  default?: unknown;
  enum?: readonly unknown[];
  order?: number;
}>;

/** A tool in a call: its definition and its secrets. */
export type UsedTool = Readonly<{
  toolId: string;
  ownerId: string;
  definition: ToolDefinition;
  secrets: Readonly<Record<string, string>>;
}>;

/** A progress report of a tool: the amount done, the total if it is known, and a message. */
export type ToolReport = Readonly<{ progress: number; total?: number | undefined; message?: string | undefined }>;

/**
 * What a call that may continue as a job gets: `begun` aborts when it becomes a job, `msMax` is its maximum duration from its
 * start, and `report` shows its progress at the job.
 */
export type Background = Readonly<{ begun: AbortSignal; msMax: number; report: (report: ToolReport) => void }>;

/** Whether a user has to approve a call. `always`: even if an allowlist names it. */
export type ApprovalNeed = 'none' | 'needed' | 'always';

/** Who approved a call: a user in the conversation, or an allowlist. */
export type CallApproval = 'user' | 'allowlist';

/** The user, the place in the log and the limits of a call. */
export type CallContext = Readonly<{
  callId: string;
  /** The owner of the conversation. */
  userId: string;
  agentId: string | null;
  conversationId: string;
  turnId: string;
  /** The sources that the turn may search. */
  sources: readonly Readonly<{ id: string; chunks?: number }>[];
  /** The ids of the turn's tools that have no action that may need an approval. Missing if the tools were not opened together. */
  ungatedTools?: readonly string[];
  /** Missing if the call needed no approval when it was checked. */
  approval?: CallApproval;
  /** Aborts when the turn is stopped. Work that has not started elsewhere by then need not start. */
  stopped?: AbortSignal;
  cause: Cause;
  signal: AbortSignal;
  /** Present if the call may continue in the background. A kind may then allow it more time. */
  background?: Background;
}>;

/** The result of checking a configuration, with `actions` if they follow from it. */
export type Configured = Readonly<{
  config: Readonly<Record<string, unknown>>;
  secrets: Readonly<Record<string, string>>;
  actions?: readonly ActionDefinition[];
}>;

/** A call failed. The message is for the model and the user, and contains no secret. */
export class ToolFailed extends Error {
  override readonly name: string = 'ToolFailed';
}

/** A call has started, and it is unknown how it ended. */
export class OutcomeUnknown extends ToolFailed {
  override readonly name = 'OutcomeUnknown';
}

/** A call failed because the owner of the tool has to sign in to it again. */
export class SignInRequired extends ToolFailed {
  override readonly name = 'SignInRequired';
}

/**
 * A kind of tool. If it throws anything but `ToolFailed`, the model only learns that the call failed. A result with `status:
 * 'error'` or a truthy `error` counts as an error too.
 */
export abstract class ToolKind {
  abstract readonly name: string;
  /** Whether this service offers the kind. Kinds whose feature is switched off are left out. */
  readonly isEnabled: boolean = true;
  abstract readonly displayName: string;
  abstract readonly description: string;
  /** If true, the service itself provides the tool where it applies, and users cannot set it up. */
  readonly internal: boolean = false;
  abstract readonly configFields: Readonly<Record<string, ConfigField>>;
  /** The actions of every tool of this kind; empty if they follow from its configuration. */
  abstract readonly actions: readonly ActionDefinition[];
  /**
   * Checks the configuration of an owner before it is stored. The default keeps only the declared fields. `secrets` holds the
   * values of all secret fields, the stored ones included; the returned secrets replace them. `cause` is that of the change.
   * @throws Rejection
   */
  configure(
    config: Readonly<Record<string, unknown>>,
    secrets: Readonly<Record<string, string>>,
    _ownerId: string,
    _cause: Cause,
  ): Promise<Configured> {
    const known = Object.entries(config).filter(([name]) => Object.hasOwn(this.configFields, name));
    return Promise.resolve({ config: Object.fromEntries(known), secrets });
  }
  /**
   * Whether a call needs an approval, if that depends on its arguments. The owner's setting of the action applies in addition.
   */
  approvalOf?(
    action: ActionDefinition,
    args: Readonly<Record<string, unknown>>,
    tool: Pick<UsedTool, 'ownerId' | 'definition'>,
  ): Promise<ApprovalNeed>;
  /** The id of the remote device that a tool of this kind uses. */
  deviceOf?(definition: ToolDefinition): string | undefined;
  /** `args` holds the values of the model and the fixed values. Resolves to JSON. @throws ToolFailed */
  abstract run(
    action: ActionDefinition,
    args: Readonly<Record<string, unknown>>,
    tool: UsedTool,
    context: CallContext,
  ): Promise<unknown>;
}
