import {
  type GuardrailDecision,
  mergeDecisions,
  maskSpans,
  type OpenMatch,
} from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { GuardrailPolicy, GuardrailStage } from '../../../resources/guardrails/guardrail.policy.js';
import type { GuardrailScan, Guardrails, ScanContext, StageNeeds } from '../../../resources/guardrails/guardrails.port.js';
import { parseExactJson } from '../../../resources/exact-json.policy.js';
import { SignInRequired, ToolFailed, type ToolReport } from '../../../resources/tools/toolbox/tool-kind.port.js';
import type { RetrievedChunk } from '../../../resources/sources/chunks/search.port.js';
import type { Usage } from '../../conversation/conversation.events.js';
import { type LocalCheck, TextChannel } from './text-channel.js';
import type { Attached } from './attached-files.js';
import type { LongWork } from './background-calls.port.js';
import { textOf } from './tool-result.policy.js';
import { blockOf } from './guardrail-block.js';
import { WITHHELD } from '../../../resources/guardrails/guardrail.policy.js';
import { JsonTexts } from './json-texts.js';

/** The text that replaces a withheld result for the model. */
const RESULT_WITHHELD = 'The result of this call was withheld by a content policy. Go on without it.';

/** Maximum number of texts that are checked concurrently, each by all controls of its stage. */
const TEXTS_AT_ONCE_MAX = 8;

const NOTHING_USED: Usage = { promptTokens: 0, completionTokens: 0 };

/** The result of checking a text or value at a stage. */
export type Guarded<T> = Readonly<{ verdict: GuardrailScan['verdict']; value: T; decisions: readonly GuardrailDecision[] }>;

/**
 * Checks the input and output of one run by the policy that is pinned for it, and collects the decisions. Text is masked before a
 * model, a record or a reader gets it.
 */
export class TurnGuard {
  private usage: Usage = NOTHING_USED;
  private readonly found: GuardrailDecision[] = [];
  /** The policy with the controls that mask or block. */
  readonly enforced: GuardrailPolicy;
  /** The policy with the controls that only flag; undefined if there are none. */
  private readonly flagged: GuardrailPolicy | undefined;

  constructor(
    private readonly guardrails: Guardrails,
    readonly policy: GuardrailPolicy,
    private readonly signal: AbortSignal,
  ) {
    const [flags, others] = [true, false].map((onlyFlags) =>
      policy.controls.filter(({ action }) => (policy.mode === 'monitor_only' || action === 'flag') === onlyFlags),
    );
    this.enforced = flags!.length === 0 ? policy : { ...policy, controls: others! };
    this.flagged = flags!.length === 0 ? undefined : { ...policy, controls: flags! };
  }

  /** The decisions so far, merged to one for each control. */
  get decisions(): readonly GuardrailDecision[] {
    return mergeDecisions(this.found);
  }

  /** The token usage of the checks since the last call; undefined if they used no tokens. */
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

  /** Ends the run because of a blocked text. @throws GuardrailBlock always */
  block(stage: GuardrailStage, decisions: readonly GuardrailDecision[]): never {
    this.note(decisions);
    throw blockOf(this.policy, stage, decisions);
  }

  /**
   * Whether the answer is held back until all of it is checked. A judge model checks only the complete text, because a part may
   * have another meaning.
   */
  get holdsOutput(): boolean {
    const isJudged = this.policy.controls.some(
      ({ stage, check, action }) => stage === 'output' && check === 'policy' && action === 'block',
    );
    return this.policy.mode !== 'monitor_only' && (isJudged || this.needs('output').holdsAll);
  }

  /** A channel for a text of the answer. `before` was shown before; its end may be an open match. */
  shownText(before: string, open?: OpenMatch): TextChannel {
    return this.channel((text, shown) => this.guardrails.localScan(this.enforced, 'output', text, shown), before, open);
  }

  /**
   * A channel for the text that a model writes in several rounds. Each round is noted and masked before it is used in later
   * messages or stored. The text before the first one may end with an open match.
   */
  writtenText(open?: OpenMatch): TextChannel {
    const check: LocalCheck = (text, before) => {
      const scan = this.guardrails.localScan(this.policy, 'output', text, before);
      this.note(scan.decisions);
      return scan;
    };
    return this.channel(check, '', open);
  }

  /**
   * A masked text with which a step continues after a pause. Its last mask is replaced by a made-up beginning of the match, so that the
   * text is masked as a whole when the step is recorded.
   */
  reopened(text: string, open: OpenMatch | undefined): string {
    const beginning = open && this.guardrails.beginningOf(this.policy, 'output', open);
    if (beginning === undefined) return text;
    const mask = maskSpans(beginning, this.guardrails.localScan(this.policy, 'output', beginning).spans);
    return text.endsWith(mask) ? text.slice(0, text.length - mask.length) + beginning : text;
  }

  private channel(check: LocalCheck, before: string, open: OpenMatch | undefined): TextChannel {
    return new TextChannel(
      check,
      (decisions) => this.block('output', decisions),
      this.guardrails.lookBack(this.policy, 'output'),
      before,
      (match) => this.guardrails.beginningOf(this.policy, 'output', match),
      open,
    );
  }

  /** Notes the matches of the controls that only flag. A text need not wait for them, so they are found in all of it at the end. */
  async noteFlags(stage: GuardrailStage, text: string): Promise<void> {
    if (!this.flagged || text === '') return;
    const scan = await this.guardrails.scan(this.flagged, stage, text, {}, this.signal, { only: ['local'] });
    this.note(scan.decisions);
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

  /** Checks a complete text that leaves the run, by all checks of single texts, and returns it masked. @throws GuardrailBlock */
  text(stage: GuardrailStage, text: string): Promise<string> {
    return this.value(stage, text);
  }

  /** Does the same with all texts of a JSON value. @throws GuardrailBlock */
  async value<T>(stage: GuardrailStage, value: T): Promise<T> {
    const guarded = await this.checked(stage, value);
    if (guarded.verdict === 'block') this.block(stage, guarded.decisions);
    this.note(guarded.decisions);
    return guarded.value;
  }

  /** Does the same with local checks only, synchronously. @throws GuardrailBlock */
  valueNow<T>(stage: GuardrailStage, value: T, withKeys = true, policy = this.policy): T {
    const texts = new JsonTexts(value, withKeys);
    if (texts.text === '') return value;
    const { spans, decisions } = this.guardrails.localScan(policy, stage, texts.text);
    if (spans.some(({ action }) => action === 'block')) this.block(stage, decisions);
    this.note(decisions);
    return texts.masked(spans) as T;
  }

  /** Masks a model's text before it is used in later messages or stored. @throws GuardrailBlock */
  masked(text: string): string {
    return this.valueNow('output', text);
  }

  /**
   * Masks the arguments of a call. The masked arguments are the ones that run and that are shown. Arguments that no call can have are
   * masked as one text. @throws GuardrailBlock
   */
  callArguments(text: string): string {
    const args = parsed(text);
    return args === undefined ? this.masked(text) : JSON.stringify(this.valueNow('output', args));
  }

  /** Checks the result of a tool. A text that replaces a blocked result tells the model that it was withheld. */
  async toolResult(value: unknown, isSearch = false): Promise<unknown> {
    const found = isSearch ? await this.orWithheld('retrieval', value, RESULT_WITHHELD) : value;
    return this.orWithheld('tool_result', found, RESULT_WITHHELD);
  }

  /** Wraps the work of a tool so that its results, failures and progress reports are checked before they are used. */
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

  /** Checks retrieved chunks. The texts of a blocked chunk are replaced. */
  async documents(chunks: readonly RetrievedChunk[]): Promise<readonly RetrievedChunk[]> {
    return this.each(chunks, async (chunk) => {
      const { text, title, source, filename } = chunk;
      const shown = await this.orUndefined('retrieval', [text, title, source, filename]);
      const [shownText, shownTitle, shownSource, shownName] = shown ?? [WITHHELD, WITHHELD, WITHHELD, WITHHELD];
      return { ...chunk, text: shownText!, title: shownTitle!, source: shownSource!, filename: shownName! };
    });
  }

  /** Checks the texts of attached files. Blocked texts are replaced. */
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

  /** The masked value, or `withheld` if the value is blocked. */
  async orWithheld(stage: GuardrailStage, value: unknown, withheld: string): Promise<unknown> {
    const guarded = await this.orUndefined(stage, [value]);
    return guarded ? guarded[0] : withheld;
  }

  private async orUndefined<T>(stage: GuardrailStage, value: T): Promise<T | undefined> {
    const guarded = await this.checked(stage, value);
    this.note(guarded.decisions);
    return guarded.verdict === 'block' ? undefined : guarded.value;
  }

  /** Checks a value by all checks of single texts, without adding to `decisions`. */
  async checked<T>(stage: GuardrailStage, value: T): Promise<Guarded<T>> {
    const { local, remote } = this.needs(stage);
    const texts = new JsonTexts(value);
    if (!(local || remote) || texts.text === '') return { verdict: 'pass', value, decisions: [] };
    const { verdict, spans, decisions } = await this.scan(stage, texts.text, {}, ['local', 'remote']);
    return { verdict, value: verdict === 'redact' ? (texts.masked(spans) as T) : value, decisions };
  }

  private report(said: ToolReport): ToolReport {
    const { message } = said;
    if (message === undefined) return said;
    const { spans, decisions } = this.guardrails.localScan(this.policy, 'tool_result', message);
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
    return parseExactJson(text, 'The object of arguments');
  } catch {
    return undefined;
  }
}
