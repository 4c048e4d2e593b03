import { createHash } from 'node:crypto';
import type { CalledTool, PendingCall } from '../../conversation/conversation.events.js';
import { Rejection } from '../../../kernel/rejection.js';
import { recordOf, type ToolCallRecord } from '../../conversation/tool-call.policy.js';
import { parseExactJson } from '../../../resources/exact-json.policy.js';
import type { ModelToolCall } from '../../../resources/models/model/language-model.port.js';
import type { CallApproval } from '../../../resources/tools/toolbox/tool-kind.port.js';
import type { OfferedAction } from '../../../resources/tools/toolbox/toolbox.port.js';
import type { ExecutionMode } from './execution-mode.policy.js';
import { failureOf } from './call-ends.policy.js';
import { type OfferedTools, TOOL_NAME_CHARACTERS_MAX } from './offered-tools.js';
import { SHOWN_RESULT_BYTES_MAX } from './tool-result.policy.js';
import { cutText } from '../../../kernel/cut-text.js';

/** Maximum size of the arguments of one call as JSON. */
export const ARGUMENTS_BYTES_MAX = 32 * 1024;
/** Maximum size of all call records of a turn, because one event contains them and the answer. Calls beyond this are skipped. */
export const RECORDS_BYTES_MAX = 256 * 1024;
/** The model is offered no tools if less room than this is left. */
const CALL_BYTES_MIN = 4 * 1024;
/** Number of calls of unknown tools after which the model is told to call only listed tools. */
export const UNKNOWN_TOOLS_MAX = 2;
/** Bytes that the result of a call may add to its record. */
const RESULT_BYTES_RESERVED = SHOWN_RESULT_BYTES_MAX + 512;

/** The next step of a call: its refusal (`record`, `text`), or the action to run. */
export type Step = Readonly<
  { call: CalledTool } & ({ record: ToolCallRecord; text: string } | { action: OfferedAction; approval?: CallApproval })
>;

/** Whether a turn whose records have this size has room for another call. */
export const hasRoomForCalls = (recordsBytes: number): boolean => recordsBytes + CALL_BYTES_MIN <= RECORDS_BYTES_MAX;

export type GateSetting = Readonly<{
  offered: OfferedTools;
  /** The permitted write actions, each as `toolId:actionName`. Null if the caller may run every write action. */
  writeAllowlist: readonly string[] | null;
  executionMode: ExecutionMode;
  /** Size of the call records that the turn already has. */
  recordsBytes: number;
  recordsCount: number;
  unknownCalls: number;
}>;

/** Checks the calls that a model requests in one round: each call runs, waits for a decision, or is refused. */
export class ToolCallGate {
  readonly pending: PendingCall[] = [];
  unknownCalls: number;
  private recordsBytes: number;
  /** The index of the next call among all calls of the turn. */
  private place: number;

  constructor(private readonly setting: GateSetting) {
    ({ unknownCalls: this.unknownCalls, recordsBytes: this.recordsBytes, recordsCount: this.place } = setting);
  }

  /** The steps for a call; empty if the call waits for a decision. */
  async stepsFor(asked: ModelToolCall): Promise<readonly Step[]> {
    const steps = await this.check(asked);
    this.place++;
    return steps;
  }

  private async check(asked: ModelToolCall): Promise<readonly Step[]> {
    const offer = this.setting.offered.byName(asked.name);
    const parsed = argumentsOf(asked.arguments);
    const args = 'problem' in parsed ? {} : parsed.args;
    const name = cutText(asked.name, TOOL_NAME_CHARACTERS_MAX);
    const tool = !offer
      ? { toolId: '', toolName: 'unknown', actionName: name }
      : offer.runBy === 'client'
        ? { toolId: '', toolName: offer.tool.name, actionName: offer.tool.name }
        : calledBy(offer.action);
    const call: CalledTool = { callId: asked.id, name, ...tool, arguments: args, argumentsSha256: digestOf(args) };
    if (!this.hasRoomFor(call)) return [skipped(asked)];
    if (!offer) return [failed(call, this.unknownTool(name))];
    if ('problem' in parsed) return [failed(call, parsed.problem)];
    if (offer.runBy === 'client') return this.waits(call, 'requires_client_execution');
    return this.stepsForAction(call, offer.action);
  }

  private async stepsForAction(call: CalledTool, action: OfferedAction): Promise<readonly Step[]> {
    const { writeAllowlist } = this.setting;
    const need = action.approvalOf ? await action.approvalOf(call.arguments) : action.requiresApproval ? 'needed' : 'none';
    if (writeAllowlist !== null && action.ownerCredentials && action.access === 'write') {
      // Actions on the owner's allowlist run without an approval.
      const isAllowed = need !== 'always' && writeAllowlist.includes(`${action.toolId}:${action.actionName}`);
      if (isAllowed) return [{ call, action, approval: 'allowlist' }];
      return [notAllowed(call)];
    }
    if (need === 'none') return [{ call, action }];
    const isApproved = need !== 'always' && this.setting.executionMode.isApproved(call);
    return isApproved ? [{ call, action, approval: 'allowlist' }] : this.waits(call, 'awaiting_approval');
  }

  private waits(call: CalledTool, pauseType: PendingCall['pauseType']): readonly Step[] {
    const refusal = this.setting.executionMode.refusalOf(call, pauseType);
    if (refusal) return [{ call, ...refusal }];
    this.pending.push({ ...call, pauseType, place: this.place });
    return [];
  }

  private hasRoomFor(call: CalledTool): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(call)) + RESULT_BYTES_RESERVED;
    if (this.recordsBytes + bytes > RECORDS_BYTES_MAX) return false;
    this.recordsBytes += bytes;
    return true;
  }

  private unknownTool(name: string): string {
    const text = `There is no tool called ${JSON.stringify(name)}.`;
    return ++this.unknownCalls > UNKNOWN_TOOLS_MAX ? `${text} Call no tool that is not listed; answer with what you have.` : text;
  }
}

const calledBy = ({ toolId, toolName, actionName, deviceId }: OfferedAction) => ({
  toolId,
  toolName,
  actionName,
  ...(deviceId !== undefined && { deviceId }),
});

/** The step of an approved call whose tool is deleted or not accessible any more. */
export const unavailable = (call: CalledTool): Step => failed(call, 'This tool is no longer available, so the call was not run.');

function failed(call: CalledTool, text: string): Step {
  return { call, ...failureOf(call, text) };
}

function notAllowed(call: CalledTool): Step {
  const text = `${call.actionName} writes with the credentials of this agent's owner, who has not allowed callers of the agent's API to run it.`;
  return { call, record: recordOf(call, { status: 'denied', error: text, error_type: 'tool_not_allowed' }), text };
}

/** The step of a skipped call. Its record is short, because there may be many: a name in ASCII and no arguments. */
function skipped({ id, name: asked }: ModelToolCall): Step {
  const name = asked.slice(0, TOOL_NAME_CHARACTERS_MAX).replace(/[^\w-]/g, '_');
  const call: CalledTool = {
    callId: id,
    toolId: '',
    toolName: 'system',
    actionName: name,
    name,
    arguments: {},
    argumentsSha256: '',
  };
  const text = 'Skipped: this answer has called too many tools already.';
  return { call, record: recordOf(call, { status: 'skipped', result: text }), text };
}

function argumentsOf(text: string): { args: Readonly<Record<string, unknown>> } | { problem: string } {
  if (Buffer.byteLength(text) > ARGUMENTS_BYTES_MAX) return { problem: 'The arguments are too long.' };
  try {
    const args = text.trim() === '' ? {} : parseExactJson(text, 'The object of arguments');
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return { args: args as Record<string, unknown> };
  } catch (error) {
    // Without a problem of its own, the text is refused below, like any other that is not a JSON object.
    if (error instanceof Rejection) return { problem: error.message };
  }
  return { problem: 'The arguments must be one JSON object.' };
}

const digestOf = (args: object): string => createHash('sha256').update(JSON.stringify(args)).digest('hex');
