import { type GuardrailDecision, mergeDecisions, maskSpans } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { GuardrailPolicy, GuardrailStage } from '../../../resources/guardrails/guardrail.policy.js';
import type {
  GuardrailScan,
  Guardrails,
  LocalScan,
  ScanContext,
  StageNeeds,
} from '../../../resources/guardrails/guardrails.port.js';
import { SignInRequired, ToolFailed, type ToolReport } from '../../../resources/tools/toolbox/tool-kind.port.js';
import type { RetrievedChunk } from '../../../resources/sources/chunks/search.port.js';
import type { Usage } from '../../conversation/conversation.events.js';
import type { Attached } from './attached-files.js';
import type { LongWork } from './background-calls.port.js';
import { textOf } from './tool-result.policy.js';
import { blockOf } from './guardrail-block.js';
import { WITHHELD } from '../../../resources/guardrails/guardrail.policy.js';
import { JsonTexts } from './json-texts.js';

/** What a model reads in the place of a result that is withheld. */
const RESULT_WITHHELD = 'The result of this call was withheld by a content policy. Go on without it.';

/** Texts that are checked at the same time, each by all controls of its stage. */
const TEXTS_AT_ONCE_MAX = 8;

const NOTHING_USED: Usage = { promptTokens: 0, completionTokens: 0 };

/** What a text or value comes to at a stage. */
export type Guarded<T> = Readonly<{ verdict: GuardrailScan['verdict']; value: T; decisions: readonly GuardrailDecision[] }>;

/**
 * Checks what comes into and goes out of one run by the policy that is pinned for it, and notes what was found. What is masked is
 * masked before the model, a record or a reader gets it.
 */
export class TurnGuard {
  private usage: Usage = NOTHING_USED;
  private readonly found: GuardrailDecision[] = [];

  constructor(
    private readonly guardrails: Guardrails,
    readonly policy: GuardrailPolicy,
    private readonly signal: AbortSignal,
  ) {}

  /** What was found so far, each control once. */
  get decisions(): readonly GuardrailDecision[] {
    return mergeDecisions(this.found);
  }

  /** What the checks themselves have used since this was asked last; undefined where that is nothing. */
  takeUsage(): Usage | undefined {
    const { usage } = this;
    this.usage = NOTHING_USED;
    return usage.promptTokens + usage.completionTokens > 0 ? usage : undefined;
  }

  note(decisions: readonly GuardrailDecision[]): void {
    this.found.push(...decisions);
  }

  needs(stage: GuardrailStage): StageNeeds {
    return this.guardrails.needs(this.policy, stage);
  }

  /** A match in a text that leaves the run ends it. @throws GuardrailBlock */
  block(stage: GuardrailStage, decisions: readonly GuardrailDecision[]): never {
    this.note(decisions);
    throw blockOf(this.policy, stage, decisions);
  }

  /** No text of an answer is shown before all of it is checked. A judge is asked about the complete text: what it sees of a part may mean something else. */
  get holdsOutput(): boolean {
    const isJudged = this.policy.controls.some(
      ({ stage, check, action }) => stage === 'output' && check === 'policy' && action === 'block',
    );
    return this.policy.mode !== 'monitor_only' && (isJudged || this.needs('output').holdsAll);
  }

  localScan(stage: GuardrailStage, text: string, before?: string): LocalScan {
    return this.guardrails.localScan(this.policy, stage, text, before);
  }

  lookBack(stage: GuardrailStage): number {
    return this.guardrails.lookBack(this.policy, stage);
  }

  async scan(
    stage: GuardrailStage,
    text: string,
    context: ScanContext = {},
    only?: readonly ('local' | 'remote' | 'complete')[],
  ): Promise<GuardrailScan> {
    const scan = await this.guardrails.scan(this.policy, stage, text, context, this.signal, only && { only });
    const { promptTokens, completionTokens } = this.usage;
    this.usage = {
      promptTokens: promptTokens + scan.usage.promptTokens,
      completionTokens: completionTokens + scan.usage.completionTokens,
    };
    return scan;
  }

  /** A whole text that leaves the run, by all checks of single texts. @throws GuardrailBlock */
  text(stage: GuardrailStage, text: string): Promise<string> {
    return this.value(stage, text);
  }

  /** The same with all texts of a JSON value. @throws GuardrailBlock */
  async value<T>(stage: GuardrailStage, value: T): Promise<T> {
    const guarded = await this.checked(stage, value);
    if (guarded.verdict === 'block') this.block(stage, guarded.decisions);
    this.note(guarded.decisions);
    return guarded.value;
  }

  /** The same by the checks alone that need no time. @throws GuardrailBlock */
  valueNow<T>(stage: GuardrailStage, value: T, withKeys = true): T {
    const texts = new JsonTexts(value, withKeys);
    if (texts.text === '') return value;
    const { spans, decisions } = this.localScan(stage, texts.text);
    if (spans.some(({ action }) => action === 'block')) this.block(stage, decisions);
    this.note(decisions);
    return texts.masked(spans) as T;
  }

  /** What a model has said, as it may be told again and kept. @throws GuardrailBlock */
  said(text: string): string {
    return this.valueNow('output', text);
  }

  /** The arguments of a call, as the model wrote them: what is masked in them is what runs, and what is shown. @throws GuardrailBlock */
  callArguments(text: string): string {
    const args = parsed(text);
    return args === undefined ? this.said(text) : JSON.stringify(this.valueNow('output', args));
  }

  /** What a tool gave. Where it is blocked the model reads why there is nothing. */
  async toolResult(value: unknown, isSearch = false): Promise<unknown> {
    const found = isSearch ? await this.orWithheld('retrieval', value, RESULT_WITHHELD) : value;
    return this.orWithheld('tool_result', found, RESULT_WITHHELD);
  }

  /** The work of a tool, whose results, failures and reports are checked before anything else is made of them. */
  toolWork(work: LongWork, isSearch: boolean): LongWork {
    return async (signal, background) => {
      const report = (said: ToolReport) => background?.report(this.report(said));
      try {
        return await this.toolResult(await work(signal, background && { ...background, report }), isSearch);
      } catch (error) {
        if (!(error instanceof ToolFailed) || error instanceof SignInRequired) throw error;
        throw new ToolFailed(textOf(await this.toolResult(error.message)));
      }
    };
  }

  /** What was retrieved. What is blocked is withheld. */
  async documents(chunks: readonly RetrievedChunk[]): Promise<readonly RetrievedChunk[]> {
    return this.each(chunks, async (chunk) => {
      const { text, title, source, filename } = chunk;
      const shown = await this.orUndefined('retrieval', [text, title, source, filename]);
      const [shownText, shownTitle, shownSource, shownName] = shown ?? [WITHHELD, WITHHELD, WITHHELD, WITHHELD];
      return { ...chunk, text: shownText!, title: shownTitle!, source: shownSource!, filename: shownName! };
    });
  }

  /** What a model is given of attached files. */
  async attached(attached: Attached): Promise<Attached> {
    const parts = await this.each(attached.parts, async (part) =>
      part.type === 'text' ? { ...part, text: (await this.orUndefined('retrieval', part.text)) ?? WITHHELD } : part,
    );
    const documents = await this.each(attached.documents, async (document) => ({
      ...document,
      text: (await this.orUndefined('retrieval', document.text)) ?? WITHHELD,
    }));
    return { ...attached, parts, documents };
  }

  /** The value masked, or what stands for it. */
  async orWithheld(stage: GuardrailStage, value: unknown, withheld: string): Promise<unknown> {
    const guarded = await this.orUndefined(stage, [value]);
    return guarded ? guarded[0] : withheld;
  }

  private async orUndefined<T>(stage: GuardrailStage, value: T): Promise<T | undefined> {
    const guarded = await this.checked(stage, value);
    this.note(guarded.decisions);
    return guarded.verdict === 'block' ? undefined : guarded.value;
  }

  /** A value by all checks of single texts, of which nothing is noted. */
  async checked<T>(stage: GuardrailStage, value: T): Promise<Guarded<T>> {
    const { local, remote } = this.needs(stage);
    const texts = new JsonTexts(value);
    if (!(local || remote) || texts.text === '') return { verdict: 'pass', value, decisions: [] };
    const { verdict, decisions } = await this.scan(stage, texts.text, {}, ['local', 'remote']);
    if (verdict !== 'redact') return { verdict, value, decisions };
    return { verdict, value: texts.masked(this.localScan(stage, texts.text).spans) as T, decisions };
  }

  private report(said: ToolReport): ToolReport {
    const { message } = said;
    if (message === undefined) return said;
    const { spans, decisions } = this.localScan('tool_result', message);
    this.note(decisions);
    const isBlocked = spans.some(({ action }) => action === 'block');
    return { ...said, message: isBlocked ? WITHHELD : maskSpans(message, spans) };
  }

  private async each<T>(values: readonly T[], guard: (value: T) => Promise<T>): Promise<readonly T[]> {
    const guarded: T[] = [];
    for (let at = 0; at < values.length; at += TEXTS_AT_ONCE_MAX) {
      guarded.push(...(await Promise.all(values.slice(at, at + TEXTS_AT_ONCE_MAX).map(guard))));
    }
    return guarded;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
