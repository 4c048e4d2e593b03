import { Injectable } from '@nestjs/common';
import { GrowingText } from '../../../kernel/growing-text.js';
import { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Timing } from '../../../kernel/timing.js';
import { LanguageModels, type ModelDescription, type ModelRequest } from '../../../resources/models/model/language-model.port.js';
import { type OpenTools } from '../../../resources/tools/toolbox/toolbox.port.js';
import { withToolCalls } from '../../conversation/tool-call.policy.js';
import { conversationStream, type Exchange } from '../../conversation/conversation.events.js';
import type { Frame, ResearchPlan, ResearchProgress } from '../../journal/message.events.js';
import { retrieverNotices } from '../loop/agent-answers.js';
import { AgentLoop, beginning, NO_TOOLS, type Run } from '../loop/agent-loop.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import { type Attached, AttachedFiles } from '../loop/attached-files.js';
import { Continuations } from '../continuations/continuations.js';
import { withoutJobs } from '../loop/execution-mode.policy.js';
import { CHARACTERS_PER_TOKEN, messagesFor, RESERVED_TOKENS } from '../loop/messages.policy.js';
import { automaticQuestion } from '../loop/no-reply.js';
import { PastExchanges } from '../loop/past-exchanges.js';
import type { Transcript } from '../loop/transcript.js';
import { AgentPrompt } from './agent-prompt.js';
import { KeptFindings } from './kept-findings.js';
import { ResearchBudget } from './research-budget.js';
import {
  CLARIFICATION_SCHEMA,
  clarificationIn,
  directPlan,
  distinctSources,
  PLAN_SCHEMA,
  planIn,
} from './research-plan.policy.js';
import { CLARIFY, PLAN, synthesisPrompt, synthesisQuestion } from './research-prompts.policy.js';
import { AskResearchClarification, RecordResearchPlan, RecordResearchReport } from './research.commands.js';
import { NOTHING_USED, type Research, research } from './research.decider.js';
import { type Findings, researchStream } from './research.events.js';
import { ResearchSteps, type StepInHand } from './research-steps.js';
import { ShownFrames } from './shown-frames.js';

const DEFAULT_CONTEXT_WINDOW = 128_000;
/** The share of a model's context window that the reports may take. */
const REPORTS_SHARE = 0.6;
const BUILT_IN_PROVIDER = 'verbatim';

/** Frames after which another producer may continue, because they contain no text of the answer. */
const SILENT: ReadonlySet<Frame['type']> = new Set(['message_id', 'notice', 'research_plan', 'research_progress', 'tool_call']);

/** The data of one run of a research. */
type Setting = Readonly<{
  transcript: Transcript;
  run: Run;
  question: string;
  model: ModelDescription | undefined;
  contextWindow: number;
  tools: OpenTools;
  attached: Attached;
  /** The earlier exchanges, read once. */
  exchanges: readonly Exchange[];
  frames: ShownFrames;
  budget: ResearchBudget;
}>;

/**
 * Composes the answers of a research agent. It asks the user back if the question is unclear, makes a plan, investigates step by
 * step, and writes the answer from the reports of the steps. Plan and reports are recorded before they are shown, so another
 * producer can continue with the remaining steps.
 */
@Injectable()
export class ResearchAnswers {
  constructor(
    private readonly models: LanguageModels,
    private readonly prompt: AgentPrompt,
    private readonly loop: AgentLoop,
    private readonly steps: ResearchSteps,
    private readonly attachedFiles: AttachedFiles,
    private readonly continuations: Continuations,
    private readonly findings: KeptFindings,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly timing: Timing,
  ) {}

  /** False once text of the answer was shown, because another producer would write it again. */
  canContinue(_transcript: Transcript, shown: readonly Frame[]): Promise<boolean> {
    return Promise.resolve(shown.every(({ type }) => SILENT.has(type)));
  }

  /** A research node of a workflow asks nothing back. */
  async *deltas(transcript: Transcript, ofTurn: Run): AsyncGenerator<AnswerDelta> {
    const { resumption, asked } = transcript;
    const run: Run = { ...ofTurn, executionMode: withoutJobs(ofTurn.executionMode) };
    const inHand = resumption && (await this.continuations.recall<StepInHand>(resumption.paused.continuation));
    let { state: facts } = await this.streams.fold(researchStream(idOf(transcript)), research);
    const setting = await this.open(transcript, run, facts, inHand);
    yield* usedBefore(run, facts, inHand);
    const notices = [...retrieverNotices(asked.settings.retriever), ...setting.tools.notices, ...setting.attached.notices];
    for (const text of notices) yield* setting.frames.unlessShown({ type: 'notice', text });
    const clarification = facts.clarification ?? (facts.plan ? null : yield* this.clarify(setting));
    if (run.signal.aborted) return;
    if (clarification !== null) {
      yield { type: 'text', text: clarification };
      return;
    }
    yield* progress(setting, { status: 'planning' });
    facts = facts.plan ? facts : yield* this.plan(setting);
    const { plan } = facts;
    if (run.signal.aborted || !plan) return;
    yield* setting.frames.unlessShown({ type: 'progress', frame: { type: 'research_plan', data: plan } });
    const found = yield* this.investigate(setting, plan, facts, inHand);
    if (found) yield* this.answer(setting, plan, found);
  }

  private async open(transcript: Transcript, run: Run, facts: Research, inHand: StepInHand | null): Promise<Setting> {
    const { settings, question, origin } = transcript.asked;
    const model = await this.models.describe(settings.modelId, settings.configurationOwnerId);
    const contextWindow = model?.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
    const [tools, given, exchanges] = await Promise.all([
      this.steps.open(transcript, model),
      this.attachedFiles.give(settings.attachments ?? [], model, contextWindow),
      transcript.exchanges(contextWindow * CHARACTERS_PER_TOKEN),
    ]);
    const attached = run.guard ? await run.guard.attached(given) : given;
    const isPastPause = inHand === null || facts.reports.length >= inHand.step;
    return {
      ...{ transcript, run, model, contextWindow, tools, attached, exchanges },
      question: origin?.kind === 'follow-up' ? automaticQuestion(question) : question,
      frames: new ShownFrames(inHand?.said ?? [], run.shown),
      budget: new ResearchBudget(this.timing, isPastPause ? facts.used : inHand.used),
    };
  }

  /** The question to the user that has to be answered before the research can be planned; null if there is none. */
  private async *clarify(setting: Setting): AsyncGenerator<AnswerDelta, string | null> {
    const { transcript, run, model, frames } = setting;
    const { settings, origin, turnId } = transcript.asked;
    const hasAsker = !run.executionMode.isHeadless && origin?.kind !== 'follow-up' && transcript.researchId === undefined;
    const isAsked = hasAsker && settings.responseSchema === null;
    if (!isAsked || frames.isPlanning || model?.provider === BUILT_IN_PROVIDER || (await this.wasClarified(transcript)))
      return null;
    const asked = clarificationIn(yield* this.ask(setting, CLARIFY, CLARIFICATION_SCHEMA));
    if (asked === undefined || run.signal.aborted) return null;
    const text = run.guard ? await run.guard.text('output', asked) : asked;
    const { state } = await this.commands.execute(new AskResearchClarification(turnId, text, transcript.cause));
    return state.clarification;
  }

  /** Whether the question answers a clarification that the agent asked for. The agent does not ask back twice in a row. */
  private async wasClarified({ history }: Transcript): Promise<boolean> {
    if (!history) return false;
    const past = new PastExchanges(this.streams.store, conversationStream(history.conversationId));
    const before = await past.turnBefore(history.revision + 1);
    return before !== undefined && (await this.streams.fold(researchStream(before), research)).state.clarification !== null;
  }

  private async *plan(setting: Setting): AsyncGenerator<AnswerDelta, Research> {
    const { transcript, run, question, model, budget } = setting;
    const isPlanner = model?.provider !== BUILT_IN_PROVIDER;
    const written = isPlanner ? yield* this.ask(setting, PLAN, PLAN_SCHEMA) : undefined;
    const made = written === undefined ? directPlan(question) : planIn(written, question);
    // The plan is masked before it is recorded.
    const plan = run.guard ? run.guard.valueNow('output', made, false) : made;
    if (run.signal.aborted) return research.initial;
    const planned = { turnId: idOf(transcript), ...plan, used: budget.used };
    return (await this.commands.execute(new RecordResearchPlan(planned, transcript.cause))).state;
  }

  /** The findings of all steps, including those that former producers finished; undefined if the turn pauses or is stopped. */
  private async *investigate(
    setting: Setting,
    plan: ResearchPlan,
    facts: Research,
    inHand: StepInHand | null,
  ): AsyncGenerator<AnswerDelta, readonly Findings[] | undefined> {
    const { transcript, run, frames, budget } = setting;
    const found: Findings[] = [];
    for (const [index, { query }] of plan.steps.entries()) {
      const at = { step: index + 1, total: plan.steps.length, query };
      const reported = facts.reports[index];
      const resumed = inHand?.step === at.step && !reported ? inHand : undefined;
      if (!reported && !resumed && (frames.isSynthesizing || !budget.isLeft)) break;
      yield* progress(setting, { status: 'researching', ...at });
      if (reported) {
        found.push(await this.findings.recall(reported.findings));
      } else {
        const done = yield* this.steps.run({ ...setting, plan, before: found, step: at.step, resumed });
        if (!done || run.signal.aborted) return undefined;
        const report = run.guard ? await run.guard.text('output', done.report) : done.report;
        found.push(await this.record(transcript, at.step, { ...done, report }, budget));
      }
      yield* progress(setting, { status: 'complete', ...at });
    }
    return found;
  }

  /**
   * Records the findings of a step and returns the recorded ones. If another producer reported the step first, these are its
   * findings.
   */
  private async record(transcript: Transcript, step: number, done: Findings, budget: ResearchBudget): Promise<Findings> {
    const turnId = idOf(transcript);
    const findings = await this.findings.keep(turnId, step, done);
    const reported = { turnId, step, findings, used: budget.used };
    const { state } = await this.commands.execute(new RecordResearchReport(reported, transcript.cause));
    const stands = state.reports[step - 1];
    await this.findings.dropUnless(findings, stands?.findings);
    return stands && stands.findings !== findings ? this.findings.recall(stands.findings) : done;
  }

  private async *answer(setting: Setting, plan: ResearchPlan, found: readonly Findings[]): AsyncGenerator<AnswerDelta> {
    const { transcript, run, model, contextWindow, attached, exchanges, question, budget } = setting;
    const { settings } = transcript.asked;
    const { elapsedMs } = budget.used;
    const elapsed = { elapsed_seconds: Math.round(elapsedMs / 100) / 10, tokens_used: budget.tokens };
    yield* progress(setting, { status: 'synthesizing', ...elapsed });
    const sources = distinctSources(found.flatMap((each) => each.sources));
    const records = found.reduce<Findings['toolCalls']>((calls, each) => withToolCalls(calls, each.toolCalls), []);
    yield { type: 'sources', sources };
    yield { type: 'calls', records };
    const room = (contextWindow - RESERVED_TOKENS - attached.tokens) * CHARACTERS_PER_TOKEN * REPORTS_SHARE;
    const messages = messagesFor({
      systemPrompt: synthesisPrompt(await this.prompt.of(transcript)),
      ...{ holdsDocuments: false, documents: undefined, attached, exchanges, contextWindow },
      question: synthesisQuestion(
        question,
        plan,
        found.map(({ report }) => report),
        room,
      ),
    });
    const request = {
      ...this.request(setting),
      ...(settings.responseSchema && { responseSchema: settings.responseSchema }),
      documents: [...attached.documents, ...sources],
    };
    const written = {
      ...transcript,
      resumption: null,
      asked: { ...transcript.asked, settings: { ...settings, clientTools: [] } },
    };
    yield* this.loop.run({ transcript: written, model, tools: NO_TOOLS, request }, beginning(messages), run);
  }

  /** Asks the model for a JSON answer and returns its text. */
  private async *ask(setting: Setting, systemPrompt: string, responseSchema: object): AsyncGenerator<AnswerDelta, string> {
    const { run, question, contextWindow, attached, exchanges, budget } = setting;
    const prompted = { systemPrompt, holdsDocuments: false, documents: undefined, exchanges, question, attached, contextWindow };
    const request = { ...this.request(setting), messages: messagesFor(prompted), documents: attached.documents, responseSchema };
    const said = new GrowingText();
    for await (const chunk of this.models.stream(request, run.signal)) {
      if (chunk.type === 'text') said.add(chunk.text);
      if (chunk.type !== 'usage') continue;
      budget.add(chunk);
      yield chunk;
    }
    return said.text;
  }

  private request({ transcript, question }: Setting): Pick<ModelRequest, 'modelId' | 'ownerId' | 'question'> {
    const { modelId, configurationOwnerId: ownerId } = transcript.asked.settings;
    return { modelId, ownerId, question };
  }
}

/** The id under which a research is recorded. */
const idOf = ({ researchId, asked }: Transcript): string => researchId ?? asked.turnId;

const progress = ({ frames }: Setting, data: ResearchProgress) =>
  frames.unlessShown({ type: 'progress', frame: { type: 'research_progress', data } });

/**
 * The token usage of former producers since the last pause, so that the turn counts it once. The usage until a pause was counted
 * with the pause. Attempts of headless runs count their own usage.
 */
function* usedBefore({ executionMode }: Run, { used }: Research, inHand: StepInHand | null): Generator<AnswerDelta> {
  const counted = inHand?.used ?? NOTHING_USED;
  const promptTokens = Math.max(0, used.promptTokens - counted.promptTokens);
  const completionTokens = Math.max(0, used.completionTokens - counted.completionTokens);
  if (executionMode.isHeadless || promptTokens + completionTokens === 0) return;
  yield { type: 'usage', promptTokens, completionTokens };
}
