import { createHash } from 'node:crypto';
import type { CalledTool, PendingCall, Source } from '../conversation/conversation.events.js';
import {
  NOT_BEGUN_TEXT,
  OUTCOME_UNKNOWN_TEXT,
  outcomeUnknown,
  recordOf,
  type ToolCallRecord,
} from '../conversation/tool-call.policy.js';
import type { ModelToolCall } from '../models/language-model.port.js';
import { type CallContext, ToolFailed } from '../tools/tool-kind.port.js';
import type { OfferedAction, OpenTools } from '../tools/toolbox.port.js';
import type { Attendance } from './attendance.policy.js';
import { type CallEnd, failureOf, outcomeOf } from './call-ends.policy.js';
import { type OfferedTools, TOOL_NAME_CHARACTERS_MAX } from './offered-tools.js';
import { forModel, SHOWN_RESULT_BYTES_MAX } from './tool-result.policy.js';

/** Reads of one round that run side by side. */
export const PARALLEL_READS_MAX = 8;
/** Of one call, as JSON. */
export const ARGUMENTS_BYTES_MAX = 32 * 1024;
/** All calls of a turn as they are kept with its answer: they have to fit one event with it. Calls past this are skipped. */
export const RECORDS_BYTES_MAX = 256 * 1024;
/** With less room than this left no tools are offered any more. */
const CALL_BYTES_MIN = 4 * 1024;
/** So many calls of tools that do not exist are answered kindly. */
export const UNKNOWN_TOOLS_MAX = 2;
/** What a call may still add to its record once it has run. */
const RESULT_BYTES_RESERVED = SHOWN_RESULT_BYTES_MAX + 512;

/** Where calls with effects are written down before and after they run. */
export type CallLedger = Readonly<{
  /** Resolves to how the call ended before, where that is known: it is not run again then. */
  begin: (call: CalledTool) => Promise<CallEnd | void>;
  finish: (callId: string, status: 'completed' | 'error', result: string) => Promise<void>;
}>;

export type RoundPiece =
  Readonly<{ type: 'tool-call'; record: ToolCallRecord }> | Readonly<{ type: 'found'; sources: readonly Source[] }>;

/** What becomes of a call: it is settled without running, or it runs. */
export type Step = Readonly<{ call: CalledTool } & ({ record: ToolCallRecord; text: string } | { action: OfferedAction })>;

type RunEnd = CallEnd & Readonly<{ sources?: readonly Source[] }>;

/** Whether a turn with such records has room for another call. */
export const hasRoomForCalls = (recordsBytes: number): boolean => recordsBytes + CALL_BYTES_MIN <= RECORDS_BYTES_MAX;

export type RoundSetting = Readonly<{
  offered: OfferedTools;
  tools: OpenTools;
  /** Null: whoever asked may have anything written. */
  writeAllowlist: readonly string[] | null;
  attendance: Attendance;
  context: Omit<CallContext, 'callId'>;
  ledger: CallLedger;
  /** Aborts reads at once. A call with effects that was begun is waited for, unless the whole process ends. */
  signal: AbortSignal;
  /** Bytes of the records that the turn has already. */
  recordsBytes: number;
  unknownCalls: number;
  /** How much a model is told of one result, in characters. */
  resultCharactersMax: number;
}>;

/** The calls that a model asks for at once: judged, run where nobody has to be asked, and told. */
export class ToolRound {
  /** What the model is told of each call, by its id. */
  readonly results = new Map<string, string>();
  readonly pending: PendingCall[] = [];
  unknownCalls: number;
  private recordsBytes: number;

  constructor(private readonly setting: RoundSetting) {
    ({ unknownCalls: this.unknownCalls, recordsBytes: this.recordsBytes } = setting);
  }

  /** Judges the calls and runs those that may run; those that may not, and wait for nobody, are told to the model. */
  async *run(asked: readonly ModelToolCall[]): AsyncGenerator<RoundPiece> {
    yield* this.perform(asked.flatMap((call) => this.judge(call)));
  }

  /** In the order of the calls; reads that follow one another run together. */
  async *perform(steps: readonly Step[]): AsyncGenerator<RoundPiece> {
    for (let at = 0; at < steps.length && !this.setting.signal.aborted;) {
      const reads = steps.slice(at, at + PARALLEL_READS_MAX);
      const end = reads.findIndex((step) => !('action' in step) || step.action.access !== 'read');
      const group = end === -1 ? reads : reads.slice(0, Math.max(end, 1));
      yield* this.together(group);
      at += group.length;
    }
  }

  private async *together(steps: readonly Step[]): AsyncGenerator<RoundPiece> {
    const running = new Map<string, Promise<{ callId: string; pieces: readonly RoundPiece[] }>>();
    for (const step of steps) {
      const { callId } = step.call;
      if ('record' in step) {
        yield this.settled(step.call, step.record, step.text);
      } else {
        yield { type: 'tool-call', record: recordOf(step.call, { status: 'pending' }) };
        const run = this.execute(step.call, step.action).then((pieces) => ({ callId, pieces }));
        // A failure is thrown in its turn, if anybody still listens; it must not count as unhandled before.
        run.catch(() => undefined);
        running.set(callId, run);
      }
    }
    while (running.size > 0) {
      const { callId, pieces } = await Promise.race(running.values());
      running.delete(callId);
      yield* pieces;
    }
  }

  private settled(call: CalledTool, record: ToolCallRecord, text: string): RoundPiece {
    this.results.set(call.callId, forModel(text, this.setting.resultCharactersMax));
    return { type: 'tool-call', record };
  }

  private async execute(call: CalledTool, action: OfferedAction): Promise<readonly RoundPiece[]> {
    const { tools, context, signal, attendance } = this.setting;
    const long = { ...context, call, hasEffects: action.access === 'write' };
    const run = (until: AbortSignal) =>
      this.outcome(call, () =>
        attendance.calls.run(long, until, (end, background) =>
          tools.run(action, call.arguments, {
            ...context,
            callId: call.callId,
            signal: end,
            ...(background && { background }),
          }),
        ),
      );
    const { record, text, sources = [] } = action.access === 'read' ? await run(signal) : await this.effect(call, run);
    const found: readonly RoundPiece[] = sources.length > 0 ? [{ type: 'found', sources }] : [];
    return [...found, this.settled(call, record, text)];
  }

  /**
   * Is written down before and after. Whoever stops an answer does not un-happen what was begun; a process that ends lets
   * go of it, and does not learn what came of it.
   */
  private async effect(call: CalledTool, run: (until: AbortSignal) => Promise<RunEnd>): Promise<RunEnd> {
    const { ledger, signal, resultCharactersMax } = this.setting;
    const before = await ledger.begin(call);
    if (before) return before;
    const letGo = new AbortController();
    const onAbort = () => signal.reason !== 'stopped' && letGo.abort(signal.reason);
    signal.addEventListener('abort', onAbort);
    const end = await (signal.aborted ? Promise.resolve(failureOf(call, NOT_BEGUN_TEXT)) : run(letGo.signal)).finally(() =>
      signal.removeEventListener('abort', onAbort),
    );
    if (letGo.signal.aborted && end.record.status === 'error') {
      return { record: outcomeUnknown(call), text: OUTCOME_UNKNOWN_TEXT };
    }
    const text = forModel(end.text, resultCharactersMax);
    await ledger.finish(call.callId, end.record.status === 'error' ? 'error' : 'completed', text);
    return { ...end, text };
  }

  private async outcome(call: CalledTool, run: () => Promise<unknown>): Promise<RunEnd> {
    try {
      const result = await run();
      return { ...outcomeOf(call, result), sources: call.toolName === 'internal_search' ? sourcesIn(result) : [] };
    } catch (error) {
      if (!(error instanceof ToolFailed)) throw error;
      return failureOf(call, `Error executing tool: ${error.message}`);
    }
  }

  private judge(asked: ModelToolCall): readonly Step[] {
    const offer = this.setting.offered.byName(asked.name);
    const parsed = argumentsOf(asked.arguments);
    const args = 'problem' in parsed ? {} : parsed.args;
    const name = asked.name.slice(0, TOOL_NAME_CHARACTERS_MAX);
    const tool = !offer
      ? { toolId: '', toolName: 'unknown', actionName: name }
      : offer.runBy === 'client'
        ? { toolId: '', toolName: offer.tool.name, actionName: offer.tool.name }
        : { toolId: offer.action.toolId, toolName: offer.action.toolName, actionName: offer.action.actionName };
    const call: CalledTool = { callId: asked.id, name, ...tool, arguments: args, argumentsSha256: digestOf(args) };
    if (!this.hasRoomFor(call)) return [skipped(asked)];
    if (!offer) return [failed(call, this.unknownTool(name))];
    if ('problem' in parsed) return [failed(call, parsed.problem)];
    if (offer.runBy === 'client') return this.waits(call, 'requires_client_execution');
    return this.judgeAction(call, offer.action);
  }

  private judgeAction(call: CalledTool, action: OfferedAction): readonly Step[] {
    const { writeAllowlist } = this.setting;
    if (writeAllowlist !== null && action.ownerCredentials && action.access === 'write') {
      // What the owner allows beforehand runs without being asked about.
      if (writeAllowlist.includes(`${action.toolId}:${action.actionName}`)) return [{ call, action }];
      return [notAllowed(call)];
    }
    const mustWait = action.requiresApproval && !this.setting.attendance.isApproved(call);
    return mustWait ? this.waits(call, 'awaiting_approval') : [{ call, action }];
  }

  private waits(call: CalledTool, pauseType: PendingCall['pauseType']): readonly Step[] {
    const refusal = this.setting.attendance.refusalOf(call, pauseType);
    if (refusal) return [{ call, ...refusal }];
    this.pending.push({ ...call, pauseType });
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

/** An approved call whose tool is gone, or out of reach. */
export const unavailable = (call: CalledTool): Step => failed(call, 'This tool is no longer available, so the call was not run.');

function failed(call: CalledTool, text: string): Step {
  return { call, ...failureOf(call, text) };
}

function notAllowed(call: CalledTool): Step {
  const text = `${call.actionName} writes with credentials of this agent's owner, who has not allowed that to callers of the agent's API.`;
  return { call, record: recordOf(call, { status: 'denied', error: text, error_type: 'tool_not_allowed' }), text };
}

/** Kept short, for there may be many: its name in characters of one byte, no arguments. */
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
    const args: unknown = text.trim() === '' ? {} : JSON.parse(text);
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return { args: args as Record<string, unknown> };
  } catch {
    // Told below, like any other text that is no object.
  }
  return { problem: 'The arguments must be one JSON object.' };
}

const digestOf = (args: object): string => createHash('sha256').update(JSON.stringify(args)).digest('hex');

function sourcesIn(result: unknown): readonly Source[] {
  const { sources } = (result ?? {}) as { sources?: unknown };
  return Array.isArray(sources) ? (sources as Source[]) : [];
}
