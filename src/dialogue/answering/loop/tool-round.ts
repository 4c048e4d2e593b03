import type { CalledTool, CallEndStatus, PendingCall, Source } from '../../conversation/conversation.events.js';
import {
  NOT_BEGUN_TEXT,
  OUTCOME_UNKNOWN_TEXT,
  outcomeUnknown,
  recordOf,
  type ToolCallRecord,
} from '../../conversation/tool-call.policy.js';
import type { ModelToolCall } from '../../../resources/models/model/language-model.port.js';
import { type CallContext, OutcomeUnknown, SignInRequired, ToolFailed } from '../../../resources/tools/toolbox/tool-kind.port.js';
import type { OfferedAction, OpenTools } from '../../../resources/tools/toolbox/toolbox.port.js';
import { type CallEnd, failureOf, outcomeOf } from './call-ends.policy.js';
import { ToolCallGate, type GateSetting, type Step } from './tool-call-gate.js';
import type { TurnGuard } from './turn-guard.js';
import type { LongWork } from './background-calls.port.js';
import { forModel } from './tool-result.policy.js';

/** The tool with which a model searches the sources of its turn. */
const SEARCH = 'internal_search';

/** Maximum number of read calls of a round that run concurrently. */
export const PARALLEL_READS_MAX = 8;

/** Records calls with effects before and after they run. */
export type CallLedger = Readonly<{
  /** Resolves to the end of the same call in an earlier attempt, if it is known. The call then does not run again. */
  begin: (call: CalledTool) => Promise<CallEnd | void>;
  finish: (callId: string, status: CallEndStatus, result: string) => Promise<void>;
}>;

export type RoundDelta =
  | Readonly<{ type: 'tool-call'; record: ToolCallRecord }>
  | Readonly<{ type: 'found'; sources: readonly Source[] }>;

type RunEnd = CallEnd & Readonly<{ sources?: readonly Source[] }>;

export type RoundSetting = GateSetting &
  Readonly<{
    tools: OpenTools;
    context: Omit<CallContext, 'callId'>;
    ledger: CallLedger;
    /** Aborts reads at once. A call with effects that has started runs to its end, unless the process shuts down. */
    signal: AbortSignal;
    /** Checks results before they are used; missing if the agent has no guardrails. */
    guard?: TurnGuard;
    /** Maximum length of one result for the model, in characters. */
    resultCharactersMax: number;
  }>;

/** The calls that a model requests at once: checked, run where no approval is needed, and reported to the model. */
export class ToolRound {
  /** The result of each call as the model reads it, by call id. */
  readonly results = new Map<string, string>();
  private readonly gate: ToolCallGate;

  constructor(private readonly setting: RoundSetting) {
    this.gate = new ToolCallGate(setting);
  }

  get pending(): readonly PendingCall[] {
    return this.gate.pending;
  }

  get unknownCalls(): number {
    return this.gate.unknownCalls;
  }

  /** Checks the calls and runs those that may run. The model reads which calls were refused; the others wait for a decision. */
  async *run(asked: readonly ModelToolCall[]): AsyncGenerator<RoundDelta> {
    const steps: Step[] = [];
    // Sequential, because each call reduces the room that is left for the next one.
    for (const call of asked) steps.push(...(await this.gate.stepsFor(call)));
    yield* this.perform(steps);
  }

  /** Performs the steps in the order of the calls. Consecutive reads run concurrently. */
  async *perform(steps: readonly Step[]): AsyncGenerator<RoundDelta> {
    for (let at = 0; at < steps.length && !this.setting.signal.aborted;) {
      const reads = steps.slice(at, at + PARALLEL_READS_MAX);
      const end = reads.findIndex((step) => !('action' in step) || step.action.access !== 'read');
      const group = end === -1 ? reads : reads.slice(0, Math.max(end, 1));
      yield* this.together(group);
      at += group.length;
    }
  }

  private async *together(steps: readonly Step[]): AsyncGenerator<RoundDelta> {
    const running = new Map<string, Promise<{ callId: string; deltas: readonly RoundDelta[] }>>();
    for (const step of steps) {
      const { callId } = step.call;
      if ('record' in step) {
        yield this.ended(step.call, step.record, step.text);
      } else {
        yield { type: 'tool-call', record: recordOf(step.call, { status: 'pending' }) };
        const run = this.execute(step.call, step).then((deltas) => ({ callId, deltas }));
        // `Promise.race` below throws the failure. Until then it must not count as an unhandled rejection.
        run.catch(() => undefined);
        running.set(callId, run);
      }
    }
    while (running.size > 0) {
      const { callId, deltas } = await Promise.race(running.values());
      running.delete(callId);
      yield* deltas;
    }
  }

  private ended(call: CalledTool, record: ToolCallRecord, text: string): RoundDelta {
    this.results.set(call.callId, forModel(text, this.setting.resultCharactersMax));
    return { type: 'tool-call', record };
  }

  private async execute(
    call: CalledTool,
    { action, approval }: Extract<Step, { action: OfferedAction }>,
  ): Promise<readonly RoundDelta[]> {
    const { tools, context, signal, executionMode, guard } = this.setting;
    const long = { ...context, call, hasEffects: action.access === 'write' };
    const work: LongWork = (end, background) =>
      tools.run(action, call.arguments, {
        ...context,
        callId: call.callId,
        signal: end,
        stopped: signal,
        ...(approval && { approval }),
        ...(background && { background }),
      });
    const checked = guard ? guard.toolWork(work, call.toolName === SEARCH) : work;
    const run = (until: AbortSignal) => this.outcome(call, () => executionMode.calls.run(long, until, checked));
    const { record, text, sources = [] } = action.access === 'read' ? await run(signal) : await this.effect(call, run);
    const found: readonly RoundDelta[] = sources.length > 0 ? [{ type: 'found', sources }] : [];
    return [...found, this.ended(call, record, text)];
  }

  /**
   * Records the call before and after it runs. Stopping an answer does not cancel a side effect that has started. A process that
   * shuts down abandons the call, and its outcome stays unknown.
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
    const { status } = end.record;
    await ledger.finish(call.callId, status === 'error' || status === 'denied' ? status : 'completed', text);
    return { ...end, text };
  }

  private async outcome(call: CalledTool, run: () => Promise<unknown>): Promise<RunEnd> {
    try {
      const result = await run();
      return { ...outcomeOf(call, result), sources: call.toolName === SEARCH ? sourcesIn(result) : [] };
    } catch (error) {
      if (!(error instanceof ToolFailed)) throw error;
      const refusal = error instanceof SignInRequired && this.setting.executionMode.refusalOf(call, 'connection_required');
      if (refusal) return refusal;
      if (error instanceof OutcomeUnknown) {
        return { record: { ...outcomeUnknown(call), error: error.message }, text: `${OUTCOME_UNKNOWN_TEXT} ${error.message}` };
      }
      return failureOf(call, `Error executing tool: ${error.message}`);
    }
  }
}

function sourcesIn(result: unknown): readonly Source[] {
  const { sources } = (result ?? {}) as { sources?: unknown };
  return Array.isArray(sources) ? (sources as Source[]) : [];
}
