import { Logger } from '@nestjs/common';
import { accessOf, actsForOwner, isIdempotent } from './access.policy.js';
import { completeArguments, modelParameters } from './action.policy.js';
import { fitted } from './arguments.policy.js';
import { type Redact, redaction } from './redaction.policy.js';
import type { ActionDefinition, ToolDefinition } from './tool.events.js';
import {
  type ApprovalNeed,
  type Background,
  type CallContext,
  OutcomeUnknown,
  SignInRequired,
  ToolFailed,
  type ToolKind,
  type ToolReport,
} from './tool-kind.port.js';
import { type OfferedAction, OpenTools } from './toolbox.port.js';

/** A pinned tool that a turn may use. */
export type OpenedTool = Readonly<{
  toolId: string;
  ownerId: string;
  kind: ToolKind;
  definition: ToolDefinition;
  /** Resolves to the tool's secrets if it, and the action, may still be used as they were pinned. @throws ToolFailed */
  admit: (actionName: string, signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;
}>;

type Arguments = Readonly<Record<string, unknown>>;

/** Repeats work while the event store is unavailable, until the signal aborts. */
type Patiently = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** The tools of one turn, ready to be called. */
export class OpenedTools extends OpenTools {
  readonly actions: readonly OfferedAction[];
  private readonly tools: ReadonlyMap<string, OpenedTool>;
  private readonly ungatedTools: readonly string[];
  private readonly logger = new Logger('Tools');

  constructor(
    tools: readonly OpenedTool[],
    readonly notices: readonly string[],
    private readonly patiently: Patiently,
  ) {
    super();
    this.tools = new Map(tools.map((each) => [each.toolId, each]));
    this.actions = tools.flatMap((tool) =>
      tool.definition.actions.filter(({ active }) => active).map((action) => offered(tool, action, patiently)),
    );
    const gated = new Set(this.actions.filter((each) => each.requiresApproval || each.approvalOf).map(({ toolId }) => toolId));
    this.ungatedTools = [...this.tools.keys()].filter((toolId) => !gated.has(toolId));
  }

  async run({ toolId, actionName }: OfferedAction, args: Arguments, context: CallContext): Promise<unknown> {
    const tool = this.tools.get(toolId);
    const action = tool?.definition.actions.find(({ name }) => name === actionName);
    if (!tool || !action) throw new ToolFailed('There is no such action.');
    const filled = fitted(action, args);
    if ('problem' in filled) throw new ToolFailed(`The arguments cannot be used. ${filled.problem}`);
    try {
      return await this.call(tool, action, completeArguments(action, filled.args), context);
    } catch (error) {
      if (error instanceof ToolFailed) throw error;
      if (context.signal.aborted) throw new ToolFailed('The call was stopped.');
      // An error's message may hold arguments or secrets, so only its name and stack are logged.
      this.logger.error(
        `${tool.kind.name} ${actionName} of tool ${toolId} failed in call ${context.callId}: ${outlineOf(error)}`,
      );
      throw new ToolFailed('The tool failed for an unknown reason.');
    }
  }

  private async call({ admit, kind, ...tool }: OpenedTool, action: ActionDefinition, args: Arguments, context: CallContext) {
    const secrets = await admit(action.name, context.signal);
    const redact = redaction(secrets);
    try {
      const { ungatedTools } = this;
      const background = context.background && quiet(context.background, redact);
      const called = { ...context, ungatedTools, ...(background && { background }) };
      const run = () => kind.run(action, args, { ...tool, secrets }, called);
      const result = await (isIdempotent(kind.name, action) ? this.patiently(run, context.signal) : run());
      return redact(result ?? null);
    } catch (error) {
      if (!(error instanceof ToolFailed)) throw error;
      const text = String(redact(error.message));
      const Failure = [SignInRequired, OutcomeUnknown].find((each) => error instanceof each) ?? ToolFailed;
      throw new Failure(text);
    }
  }
}

/** Removes secrets from the reports of a tool, as from its results. */
const quiet = (background: Background, redact: Redact): Background => ({
  ...background,
  report: (report) => background.report(redact(report) as ToolReport),
});

/** The stricter of the owner's setting and the decision of the kind about the arguments. */
async function approvalOf(tool: OpenedTool, action: ActionDefinition, args: Arguments): Promise<ApprovalNeed> {
  const filled = fitted(action, args);
  // A call that cannot run is refused when it is to run, so it needs no approval.
  const need = 'problem' in filled ? 'none' : await tool.kind.approvalOf!(action, completeArguments(action, filled.args), tool);
  return need === 'none' && action.require_approval === true ? 'needed' : need;
}

const offered = (tool: OpenedTool, action: ActionDefinition, patiently: Patiently): OfferedAction => {
  const { kind, toolId, definition } = tool;
  const deviceId = kind.deviceOf?.(definition);
  return {
    ...plainly(toolId, definition, action),
    ...(kind.approvalOf && { approvalOf: (args: Arguments) => patiently(() => approvalOf(tool, action, args)) }),
    ...(deviceId !== undefined && { deviceId }),
  };
};

const plainly = (toolId: string, definition: ToolDefinition, action: ActionDefinition): OfferedAction => ({
  toolId,
  toolName: definition.name,
  actionName: action.name,
  description: action.description,
  parameters: modelParameters(action),
  access: accessOf(definition.name, action),
  idempotent: isIdempotent(definition.name, action),
  requiresApproval: action.require_approval === true,
  ownerCredentials: actsForOwner(definition),
});

const STACK_LINES_MAX = 10;

function outlineOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const places = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [error.name, ...places.slice(0, STACK_LINES_MAX)].join('\n');
}
