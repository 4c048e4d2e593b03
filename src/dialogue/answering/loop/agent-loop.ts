import { Injectable } from '@nestjs/common';
import type { OpenMatches, PendingCall, Source } from '../../conversation/conversation.events.js';
import {
  denialFor,
  deniedRecord,
  OUTCOME_UNKNOWN_TEXT,
  outcomeUnknown,
  type ToolCallRecord,
} from '../../conversation/tool-call.policy.js';
import { CUT_OFF_NOTICE, FILTERED_NOTICE, type Frame } from '../../journal/message.events.js';
import { GrowingText } from '../../../kernel/growing-text.js';
import { Ids } from '../../../kernel/ids.js';
import {
  type ChatMessage,
  LanguageModels,
  type ModelDescription,
  type ModelRequest,
  type ModelToolCall,
} from '../../../resources/models/model/language-model.port.js';
import { type OpenTools, Toolbox } from '../../../resources/tools/toolbox/toolbox.port.js';
import type { OpenMatch } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { ExecutionMode } from './execution-mode.policy.js';
import { finishedAs, outcomeOf } from './call-ends.policy.js';
import { hasRoomForCalls, type Step, unavailable } from './tool-call-gate.js';
import { contentTokens } from './attached.policy.js';
import { CHARACTERS_PER_TOKEN } from './messages.policy.js';
import type { TurnGuard } from './turn-guard.js';
import { OfferedTools } from './offered-tools.js';
import { structuredAnswer } from './structured-answer.policy.js';
import { MODEL_RESULT_CHARACTERS_MAX } from './tool-result.policy.js';
import { type CallLedger, ToolRound } from './tool-round.js';
import type { Resumption, Transcript } from './transcript.js';

/** Maximum number of rounds of model and tools. After these the model has to answer without tools. */
export const TOOL_ROUNDS_MAX = 25;
/** Maximum number of calls in one round. Further calls are dropped. */
export const CALLS_PER_ROUND_MAX = 64;
/** Call ids that are longer, or that contain characters that JSON escapes, are replaced. */
export const CALL_ID_CHARACTERS_MAX = 256;
/** A model gets this many characters of a result even if its context window is nearly full. */
export const RESULT_CHARACTERS_MIN = 2_000;
const REPAIR_TEXT =
  'Your answer does not fit the JSON Schema that it has to fit. Answer again with the corrected JSON value alone. What is wrong:';
export const NO_TOOLS: OpenTools = { actions: [], notices: [], run: () => Promise.reject(new Error('There are no tools.')) };

export type LoopDelta =
  | Readonly<{ type: 'text' | 'thought' | 'notice'; text: string }>
  | Readonly<{ type: 'usage'; promptTokens: number; completionTokens: number }>
  | Readonly<{ type: 'tool-call'; record: ToolCallRecord }>
  | Readonly<{ type: 'found'; sources: readonly Source[] }>
  /** The text of this round is not the final answer: tool calls follow, or the text did not fit the response schema. */
  | Readonly<{ type: 'round-over' }>
  | Readonly<{ type: 'pause'; calls: readonly PendingCall[]; continuation: string; openMatches?: OpenMatches }>;

/** The state of the exchange between a model and its tools. A paused turn stores it as JSON and continues from it. */
export type LoopState = Readonly<{
  messages: readonly ChatMessage[];
  round: number;
  unknownCalls: number;
  /** The results of the last round's calls that need no decision, as the model reads them, by call id. */
  results: Readonly<Record<string, string>>;
  /** The match at the end of the model's text, if guardrails masked it and it may continue in the next round. */
  openMatch?: OpenMatch;
}>;

export const beginning = (messages: readonly ChatMessage[]): LoopState => ({ messages, round: 0, unknownCalls: 0, results: {} });

/** The facts of a run that its loop needs. */
export type Run = Readonly<{
  signal: AbortSignal;
  ledger: CallLedger;
  executionMode: ExecutionMode;
  /** Increases with each producer of the turn and each attempt of a headless run, so that appends of a former one are refused. */
  fencingToken: number;
  /** The call records of the turn so far, as they are stored with its answer. */
  records: () => readonly Readonly<Record<string, unknown>>[];
  /** Checks the input and output of the run; missing if the agent has no guardrails. */
  guard?: TurnGuard;
  /** The frames that a former producer has shown of this run, its `message_id` first; empty for a new run. */
  shown: readonly Frame[];
}>;

/** The values that are the same in every round. */
export type LoopSetting = Readonly<{
  transcript: Transcript;
  model: ModelDescription | undefined;
  tools: OpenTools;
  request: Omit<ModelRequest, 'messages' | 'tools'>;
  /** Whether the model may call tools in a round; by default in rounds below TOOL_ROUNDS_MAX. */
  mayCallTools?: (round: number) => boolean;
}>;

/**
 * Alternates between model and tools until the model answers, a call needs a decision, or the maximum number of rounds is
 * reached. The model gets one more attempt if its answer does not fit the response schema.
 */
@Injectable()
export class AgentLoop {
  constructor(
    private readonly models: LanguageModels,
    private readonly toolbox: Toolbox,
    private readonly ids: Ids,
  ) {}

  /** Opens the tools of a turn; none if the model cannot call tools. */
  async open({ asked }: Transcript, model: ModelDescription | undefined): Promise<OpenTools> {
    const { tools: pins = [], agentType = 'classic', configurationOwnerId: ownerId, agentId, sources } = asked.settings;
    if (!model?.tools || (pins.length === 0 && agentType !== 'agentic')) return NO_TOOLS;
    return this.toolbox.open({ pins, ownerId, agentId, agentType, hasSources: sources.length > 0 });
  }

  async *run(setting: LoopSetting, state: LoopState, run: Run): AsyncGenerator<LoopDelta> {
    const { transcript, model, tools, request, mayCallTools = (round) => round < TOOL_ROUNDS_MAX } = setting;
    const { clientTools = [] } = transcript.asked.settings;
    const offered = new OfferedTools(
      tools.actions.filter(({ toolName }) => run.executionMode.offers(toolName)),
      model?.tools ? clientTools : [],
    );
    let { messages, round: number, unknownCalls } = state;
    const { guard } = run;
    const written = guard?.writtenText(state.openMatch);
    let isRepair = false;
    if (offered.notice && !transcript.resumption) yield { type: 'notice', text: offered.notice };
    if (transcript.resumption) {
      const round = this.round(setting, offered, state, run);
      yield* round.perform(stepsOf(transcript, transcript.resumption, tools));
      if (run.signal.aborted) return;
      messages = [...messages, ...withResults(messages, { ...state.results, ...Object.fromEntries(round.results) })];
      number++;
    }
    for (; ; number++) {
      const mayCall = !isRepair && offered.size > 0 && mayCallTools(number) && hasRoomForCalls(bytesOf(run.records()));
      const calls: ModelToolCall[] = [];
      const said = new GrowingText();
      const chunks = this.models.stream({ ...request, messages, ...(mayCall && { tools: offered.forModel }) }, run.signal);
      for await (const chunk of chunks) {
        if (chunk.type === 'text') said.add(chunk.text);
        if (chunk.type === 'tool-call') calls.push(chunk);
        else if (chunk.type !== 'finish') yield chunk;
        else if (chunk.reason === 'length') yield { type: 'notice', text: CUT_OFF_NOTICE };
        else if (chunk.reason === 'content-filter') yield { type: 'notice', text: FILTERED_NOTICE };
      }
      if (run.signal.aborted) return;
      if (calls.length === 0 || !mayCall) {
        const repair = isRepair ? [] : repairOf(said.text, transcript.asked.settings.responseSchema);
        if (repair.length === 0) return;
        yield { type: 'round-over' };
        messages = [...messages, ...repair];
        isRepair = true;
        continue;
      }
      yield { type: 'round-over' };
      const known = run.records().map((record) => record['call_id'] as string);
      // Checked only after the model's usage is yielded, because a blocked call ends the answer.
      const taken = calls.slice(0, CALLS_PER_ROUND_MAX).map((call) => (guard ? checkedCall(call, guard) : call));
      const asked = withOwnIds(taken, [...known, ...transcript.waited], this.ids);
      messages = [...messages, { role: 'assistant', content: written?.add(said.text) ?? said.text, toolCalls: asked }];
      const round = this.round(setting, offered, { messages, round: number, unknownCalls, results: {} }, run);
      yield* round.run(asked);
      ({ unknownCalls } = round);
      if (run.signal.aborted) return;
      const results = Object.fromEntries(round.results);
      if (round.pending.length > 0) {
        const openMatch = written?.openMatch;
        const paused: LoopState = { messages, round: number, unknownCalls, results, ...(openMatch && { openMatch }) };
        yield { type: 'pause', calls: round.pending, continuation: JSON.stringify(paused) };
        return;
      }
      messages = [...messages, ...withResults(messages, results)];
    }
  }

  private round({ transcript, model, tools }: LoopSetting, offered: OfferedTools, state: LoopState, run: Run): ToolRound {
    const { conversationId, turnId, settings } = transcript.asked;
    const { signal, ledger, executionMode, records, guard } = run;
    const context = {
      userId: transcript.ownerId,
      agentId: settings.agentId,
      conversationId,
      turnId,
      sources: settings.sources,
      cause: transcript.cause,
      signal,
    };
    return new ToolRound({
      offered,
      tools,
      writeAllowlist: settings.writeAllowlist ?? null,
      executionMode,
      context,
      ledger,
      signal,
      recordsBytes: bytesOf(records()),
      recordsCount: records().length,
      unknownCalls: state.unknownCalls,
      ...(guard && { guard }),
      resultCharactersMax: resultCharactersMax(state.messages, model),
    });
  }
}

/** Masks a call before it is recorded, so that the call that is shown is the call that runs. */
const checkedCall = ({ id, name, arguments: args }: ModelToolCall, guard: TurnGuard): ModelToolCall => ({
  id: guard.masked(id),
  name: guard.masked(name),
  arguments: guard.callArguments(args),
});

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The limit for one result, such that all results of the round together fill at most half of the free context window. */
function resultCharactersMax(messages: readonly ChatMessage[], model: ModelDescription | undefined): number {
  if (!model) return MODEL_RESULT_CHARACTERS_MAX;
  const used = messages.reduce((sum, { content }) => sum + contentTokens(content), 0);
  const left = ((model.contextWindow - used) * CHARACTERS_PER_TOKEN) / 2 / Math.max(1, callsOf(messages).length);
  return Math.min(MODEL_RESULT_CHARACTERS_MAX, Math.max(RESULT_CHARACTERS_MIN, Math.floor(left)));
}

/** Ids that every provider accepts in the next request, with one byte per character. */
const USABLE_ID = new RegExp(`^[!#-\\[\\]-~]{1,${CALL_ID_CHARACTERS_MAX}}$`);

/**
 * Makes call ids unique, because providers restart their numbering in every reply or send no ids. The ids of waiting calls are
 * unique within a conversation.
 */
function withOwnIds(calls: readonly ModelToolCall[], known: Iterable<string>, ids: Ids): ModelToolCall[] {
  const taken = new Set(known);
  return calls.map((call) => {
    const id = taken.has(call.id) || !USABLE_ID.test(call.id) ? ids.next() : call.id;
    taken.add(id);
    return { id, name: call.name, arguments: call.arguments };
  });
}

function callsOf(messages: readonly ChatMessage[]): readonly ModelToolCall[] {
  const last = messages.at(-1);
  return (last?.role === 'assistant' && last.toolCalls) || [];
}

/** The results of the calls of the last message, in the order of the calls. */
const withResults = (messages: readonly ChatMessage[], results: Readonly<Record<string, string>>): readonly ChatMessage[] =>
  callsOf(messages).map(({ id }) => ({ role: 'tool', toolCallId: id, content: results[id] ?? '' }));

/** The messages that ask a model to correct an answer that does not fit its schema; empty if it fits or there is no schema. */
function repairOf(text: string, schema: Readonly<Record<string, unknown>> | null): readonly ChatMessage[] {
  const read = schema && structuredAnswer(text, schema);
  if (!read || 'answer' in read) return [];
  return [
    ...(text.trim() === '' ? [] : [{ role: 'assistant', content: text } as const]),
    { role: 'user', content: `${REPAIR_TEXT}\n${read.problem}` },
  ];
}

/** The next step of each call of a pause, after all of them were decided on. */
function stepsOf(
  { calls: { started, finished } }: Transcript,
  { paused, decisions }: Resumption,
  tools: OpenTools,
): readonly Step[] {
  return paused.calls.map((call): Step => {
    const decision = decisions.get(call.callId);
    const end = finished.get(call.callId);
    if (end) return { call, ...finishedAs(call, end) };
    if (decision?.type === 'ToolCallAnswered') return { call, ...outcomeOf(call, JSON.parse(decision.data.result)) };
    if (decision?.type !== 'ToolCallApproved') {
      const { comment, notRun } = decision?.data ?? { comment: null, notRun: null };
      return { call, record: deniedRecord(call, notRun, comment), text: denialFor(comment, notRun) };
    }
    const action = tools.actions.find(({ toolId, actionName }) => toolId === call.toolId && actionName === call.actionName);
    if (started.has(call.callId) && !action?.idempotent) {
      return { call, record: outcomeUnknown(call), text: OUTCOME_UNKNOWN_TEXT };
    }
    return action ? { call, action, approval: 'user' } : unavailable(call);
  });
}
