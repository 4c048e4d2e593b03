import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { ActionDefinition, ToolDefinition } from './tool.events.js';

/** One field of a tool's configuration, as a form asks for it. The value of a secret one is kept encrypted. */
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

/** A tool at work: its definition with the secrets it needs. */
export type UsedTool = Readonly<{
  toolId: string;
  ownerId: string;
  definition: ToolDefinition;
  secrets: Readonly<Record<string, string>>;
}>;

/** What a tool says while it works: how far it has come, of how much where it knows that, and a word on what it does. */
export type ToolReport = Readonly<{ progress: number; total?: number | undefined; message?: string | undefined }>;

/**
 * What a call is told that may go on as a job: `begun` aborts once it does, and how long it may take then, from its beginning.
 * Whatever it reports of how far it has come is shown of the job.
 */
export type Background = Readonly<{ begun: AbortSignal; msMax: number; report: (report: ToolReport) => void }>;

/** Whether a user has to approve a call. `always`: also where calls were allowed beforehand. */
export type ApprovalNeed = 'none' | 'needed' | 'always';

/** Who approved a call: a user who was asked, or an allowlist. */
export type CallApproval = 'user' | 'allowlist';

/** For whom and where in the log a tool is called. */
export type CallContext = Readonly<{
  callId: string;
  /** Whose conversation it is. */
  userId: string;
  agentId: string | null;
  conversationId: string;
  turnId: string;
  /** The sources that the turn may search. */
  sources: readonly Readonly<{ id: string; chunks?: number }>[];
  /** The tools of the turn that have no action for which somebody has to be asked, by their ids; none where they were not opened together. */
  ungatedTools?: readonly string[];
  /** Missing: no approval was needed when the call was checked. */
  approval?: CallApproval;
  /** Aborts once the turn is stopped: what has not begun elsewhere by then does not have to. */
  stopped?: AbortSignal;
  cause: Cause;
  signal: AbortSignal;
  /** There where the call may go on in the background: a kind may then give it more time than others. */
  background?: Background;
}>;

/** What a configuration comes to once it is checked; `actions` where they follow from it. */
export type Configured = Readonly<{
  config: Readonly<Record<string, unknown>>;
  secrets: Readonly<Record<string, string>>;
  actions?: readonly ActionDefinition[];
}>;

/** A call came to nothing. The message is for the model and for the user; it holds no secret. */
export class ToolFailed extends Error {
  override readonly name: string = 'ToolFailed';
}

/** A call that has begun, and of which it is unknown how it ended. */
export class OutcomeUnknown extends ToolFailed {
  override readonly name = 'OutcomeUnknown';
}

/** A call came to nothing because the owner of the tool has to sign in to it again. */
export class SignInRequired extends ToolFailed {
  override readonly name = 'SignInRequired';
}

/**
 * One kind of tool. A kind that throws anything but `ToolFailed` is told to the model as having failed, without details.
 * A result with `status: 'error'` or a truthy `error` counts as an error too.
 */
export abstract class ToolKind {
  abstract readonly name: string;
  /** Whether this service has it: one whose work is switched off is no kind of tool. */
  readonly isEnabled: boolean = true;
  abstract readonly displayName: string;
  abstract readonly description: string;
  /** The service hands it out itself, where it applies; it is not offered to be set up. */
  readonly internal: boolean = false;
  abstract readonly configFields: Readonly<Record<string, ConfigField>>;
  /** What every tool of this kind can do; none where that follows from its configuration. */
  abstract readonly actions: readonly ActionDefinition[];
  /**
   * Checks what the owner gave, before it is stored; by default keeps the fields it knows. `secrets` holds the values of the
   * secret fields, old ones included; what it resolves to is kept in their place. @throws Rejection
   */
  configure(
    config: Readonly<Record<string, unknown>>,
    secrets: Readonly<Record<string, string>>,
    _ownerId: string,
  ): Promise<Configured> {
    const known = Object.entries(config).filter(([name]) => Object.hasOwn(this.configFields, name));
    return Promise.resolve({ config: Object.fromEntries(known), secrets });
  }
  /** Whether a call needs an approval, where that depends on its arguments; what the owner says of the action comes on top. */
  approvalOf?(
    action: ActionDefinition,
    args: Readonly<Record<string, unknown>>,
    tool: Pick<UsedTool, 'ownerId' | 'definition'>,
  ): Promise<ApprovalNeed>;
  /** The remote device that a tool of this kind reaches. */
  deviceOf?(definition: ToolDefinition): string | undefined;
  /** `args` holds what the model filled and the fixed values. Resolves to JSON. @throws ToolFailed */
  abstract run(
    action: ActionDefinition,
    args: Readonly<Record<string, unknown>>,
    tool: UsedTool,
    context: CallContext,
  ): Promise<unknown>;
}
