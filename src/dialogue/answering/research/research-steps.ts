import { Injectable, Logger } from '@nestjs/common';
import { type ModelDescription, ModelFailed } from '../../../resources/models/model/language-model.port.js';
import { type RetrievedChunk, Search, sourceOf } from '../../../resources/sources/chunks/search.port.js';
import type { OpenTools } from '../../../resources/tools/toolbox/toolbox.port.js';
import type { Source } from '../../conversation/conversation.events.js';
import { withToolCalls } from '../../conversation/tool-call.policy.js';
import type { ResearchPlan } from '../../journal/message.events.js';
import { AgentLoop, beginning, type LoopSetting, type LoopState, type Run } from '../loop/agent-loop.js';
import type { AnswerDelta } from '../loop/answer-delta.js';
import type { Attached } from '../loop/attached-files.js';
import { documentsThatFit, messagesFor } from '../loop/messages.policy.js';
import type { Transcript } from '../loop/transcript.js';
import { AgentPrompt } from './agent-prompt.js';
import { withoutRepetition } from './repeated-calls.js';
import type { ResearchBudget } from './research-budget.js';
import { distinctSources, STEP_ROUNDS_MAX } from './research-plan.policy.js';
import { stepPrompt, stepQuestion } from './research-prompts.policy.js';
import type { Findings, ResearchUse } from './research.events.js';
import type { ShownFrames } from './shown-frames.js';

const REPORT_CHARACTERS_MAX = 40_000;

/** The state of a paused step, as stored in the continuation of the pause. */
export type StepInHand = Readonly<{
  step: number;
  loop: LoopState;
  found: Omit<Findings, 'report'>;
  used: ResearchUse;
  /** The names of the frames that were shown until the pause. See `ShownFrames`. */
  said: readonly string[];
}>;

export type StepSetting = Readonly<{
  transcript: Transcript;
  run: Run;
  question: string;
  model: ModelDescription | undefined;
  contextWindow: number;
  tools: OpenTools;
  attached: Attached;
  frames: ShownFrames;
  budget: ResearchBudget;
  plan: ResearchPlan;
  /** The findings of the earlier steps. */
  before: readonly Findings[];
  step: number;
  /** The state from which the step continues, if it was paused. */
  resumed: StepInHand | undefined;
}>;

type Retrieved = Readonly<{ chunks: readonly RetrievedChunk[] | undefined; failed: readonly string[] }>;

/** Investigates the steps of a research, each as an agentic agent. */
@Injectable()
export class ResearchSteps {
  private readonly logger = new Logger(ResearchSteps.name);

  constructor(
    private readonly loop: AgentLoop,
    private readonly search: Search,
    private readonly prompt: AgentPrompt,
  ) {}

  open(transcript: Transcript, model: ModelDescription | undefined): Promise<OpenTools> {
    return this.loop.open(searching(transcript), model);
  }

  /** The findings of the step; undefined if it pauses or is stopped. If the model fails, the report contains its error. */
  async *run(setting: StepSetting): AsyncGenerator<AnswerDelta, Findings | undefined> {
    const { resumed, before, budget, frames, run } = setting;
    const sources: Source[] = [...(resumed?.found.sources ?? [])];
    let toolCalls: Findings['toolCalls'] = resumed?.found.toolCalls ?? [];
    let report = '';
    /** The text of all rounds: a secret may continue in the last one, which is the report. */
    const written = run.guard?.shownText('', resumed?.loop.openMatch);
    const found = () => ({ sources: distinctSources(sources), toolCalls });
    const records = () => [...before.flatMap((each) => each.toolCalls), ...toolCalls];
    const decided = new Set(resumed ? setting.transcript.resumption?.paused.calls.map(({ callId }) => callId) : []);
    try {
      const beginning = resumed ? { state: resumed.loop, documents: [] } : yield* this.begin(setting, sources);
      if (run.signal.aborted) return undefined;
      for await (const delta of this.loop.run(
        this.loopSetting(setting, beginning.documents),
        beginning.state,
        loopRun(setting, records),
      )) {
        switch (delta.type) {
          case 'text':
            if (report.length < REPORT_CHARACTERS_MAX) report += delta.text;
            break;
          case 'round-over':
            written?.add(report);
            report = '';
            break;
          case 'usage':
            budget.add(delta);
            yield delta;
            break;
          case 'found':
            sources.push(...delta.sources);
            break;
          case 'tool-call':
            toolCalls = withToolCalls(toolCalls, [delta.record]);
            // Only calls that a client decided on are shown here. All others are stored with the answer.
            if (decided.has(delta.record.call_id)) yield delta;
            break;
          case 'notice':
            yield* frames.unlessShown({ type: 'notice', text: delta.text });
            break;
          case 'pause': {
            const loop = JSON.parse(delta.continuation) as LoopState;
            const inHand = { step: setting.step, loop, found: found(), used: budget.used, said: frames.all };
            yield { type: 'sources', sources: distinctSources([...before.flatMap((each) => each.sources), ...sources]) };
            yield { type: 'calls', records: records() };
            yield { ...delta, continuation: JSON.stringify(inHand satisfies StepInHand) };
            return undefined;
          }
          case 'thought':
        }
      }
      if (written?.openMatch) report = written.add(report);
    } catch (error) {
      if (!(error instanceof ModelFailed)) throw error;
      report = `This step could not be investigated. ${error.message}`;
    }
    return { report: report.trim().slice(0, REPORT_CHARACTERS_MAX).toWellFormed(), ...found() };
  }

  /** The first messages of a step: the query, and the documents that the sources have about it. */
  private async *begin(setting: StepSetting, sources: Source[]) {
    const { transcript, run, question, plan, step, attached, contextWindow, frames } = setting;
    const asked = plan.steps[step - 1]!;
    const { chunks, failed } = await this.retrieve(transcript, asked.query);
    for (const source of failed)
      yield* frames.unlessShown({ type: 'notice', text: `A source could not be searched and was skipped: ${source}` });
    const fitting = chunks && documentsThatFit(chunks, contextWindow - attached.tokens);
    const documents = fitting && run.guard ? await run.guard.documents(fitting) : fitting;
    sources.push(...(documents ?? []).map(sourceOf));
    const messages = run.signal.aborted
      ? []
      : messagesFor({
          systemPrompt: stepPrompt(await this.prompt.of(transcript)),
          ...{ holdsDocuments: false, documents, exchanges: [], attached, contextWindow },
          question: stepQuestion(question, asked),
        });
    return { state: beginning(messages), documents: documents ?? [] };
  }

  private loopSetting(setting: StepSetting, documents: readonly RetrievedChunk[]): LoopSetting {
    const { transcript, model, tools, attached, plan, step, budget, resumed } = setting;
    const { modelId, configurationOwnerId: ownerId } = transcript.asked.settings;
    return {
      transcript: { ...searching(transcript), resumption: resumed ? transcript.resumption : null },
      ...{ model, tools },
      request: {
        ...{ modelId, ownerId, question: plan.steps[step - 1]!.query },
        documents: [...attached.documents, ...documents],
      },
      mayCallTools: (round) => round < STEP_ROUNDS_MAX && budget.isLeft,
    };
  }

  private async retrieve({ asked }: Transcript, question: string): Promise<Retrieved> {
    const { sources, chunks, configurationOwnerId: ownerId } = asked.settings;
    if (sources.length === 0 || chunks === 0) return { chunks: undefined, failed: [] };
    try {
      const found = await this.search.search({ sources, question, chunks, ownerId });
      return { chunks: found.chunks, failed: found.failedSources };
    } catch (error) {
      this.logger.error(error);
      return { chunks: undefined, failed: sources.map((source) => source.id) };
    }
  }
}

/** The transcript for a step: with the tools of an agentic agent, and without a response schema. */
const searching = (transcript: Transcript): Transcript => ({
  ...transcript,
  asked: { ...transcript.asked, settings: { ...transcript.asked.settings, agentType: 'agentic', responseSchema: null } },
});

function loopRun({ run, transcript }: StepSetting, records: () => Findings['toolCalls']): Run {
  const all = () => withToolCalls(run.records(), records());
  const done = new Set(all().map((record) => record['call_id'] as string));
  return { ...run, records: all, ledger: withoutRepetition(run.ledger, transcript.calls, done) };
}
