import {
  type GuardrailDecision,
  type GuardrailSpan,
  maskSpans,
} from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { GuardrailCheck } from '../../../resources/guardrails/guardrail.policy.js';
import type { LocalScan } from '../../../resources/guardrails/guardrails.port.js';

/** Of a match that does not end, so many characters are held; the rest is masked as it comes. */
export const HELD_CHARACTERS_MAX = 16_000;

/** The end of a sentence, up to which a text may be shown before something else is. No number and no address ends like this. */
const SENTENCE_END = /\n|(?<=[\p{L}\p{Pe}\p{Pf}"'])[.!?…:;](?=\s|$)/gu;

export type LocalCheck = (text: string, before: string) => LocalScan;

type Match = Readonly<{ decision: GuardrailDecision; count: number }>;

/**
 * One text that is shown as it is written (an answer, or its thoughts). It holds back what may still become part of a match, and
 * masks matches. What is shown never holds a match, also one that began before something else was shown.
 */
export class TextChannel {
  private held = '';
  /** Whether the last that was shown is the mask of a match that may go on. */
  private isAmidMatch = false;
  private readonly matches = new Map<GuardrailCheck, Match>();

  constructor(
    private readonly check: LocalCheck,
    /** Called with the decisions of a scan that found a match which blocks. It throws. */
    private readonly block: (decisions: readonly GuardrailDecision[]) => never,
    private readonly contextCharacters: number,
    /** What was shown before. */
    private before = '',
  ) {
    this.before = tailOf(before, contextCharacters);
  }

  get heldCharacters(): number {
    return this.held.length;
  }

  /** What was found in what is shown by now, each control once. */
  get decisions(): readonly GuardrailDecision[] {
    return [...this.matches.values()].map(({ decision, count }) => ({ ...decision, matchCount: count }));
  }

  /** Takes text and keeps it. */
  hold(text: string): void {
    this.held += text;
  }

  /** Takes text; what may be shown by now. */
  push(text: string): string {
    this.held += text;
    if (this.held === '') return '';
    const scan = this.scan();
    const isTooMuch = this.held.length - scan.decidedTo > HELD_CHARACTERS_MAX;
    return this.release(isTooMuch ? this.held.length : scan.decidedTo, scan);
  }

  /** Something else is shown now: what stands up to the last end of a sentence goes before it. */
  seam(): string {
    if (this.held === '') return '';
    const scan = this.scan();
    return this.release(Math.max(scan.decidedTo, sentencesEnd(this.held)), scan);
  }

  /** All that is held. Should more come, what was shown is looked at with it. */
  end(): string {
    return this.held === '' ? '' : this.release(this.held.length, this.scan());
  }

  /** Drops what is held. */
  forget(): void {
    this.held = '';
  }

  private scan(): LocalScan {
    const scan = this.check(this.held, this.before);
    if (scan.spans.some(({ action }) => action === 'block')) this.block(scan.decisions);
    return scan;
  }

  private release(to: number, { spans, decisions }: LocalScan): string {
    if (to === 0) return '';
    const end = to === this.held.length ? to : unbroken(to, spans);
    const own = spans
      .filter(({ start }) => start < end)
      .map((span) => ({ ...span, end: Math.min(span.end, end), open: span.open || span.end > end }));
    this.count(own, decisions);
    // A match that goes on has its mask already.
    const masks = own.map((span) => (this.isAmidMatch && span.start === 0 ? { ...span, mask: '' } : span));
    const shown = maskSpans(this.held.slice(0, end), masks);
    this.isAmidMatch = own.some((span) => span.action === 'redact' && span.open && span.end === end);
    this.before = tailOf(this.before + this.held.slice(0, end), this.contextCharacters);
    this.held = this.held.slice(end);
    return shown;
  }

  private count(spans: readonly GuardrailSpan[], decisions: readonly GuardrailDecision[]): void {
    for (const { check, start } of spans) {
      const decision = decisions.find((each) => each.check === check);
      if (!decision || (this.isAmidMatch && start === 0)) continue;
      this.matches.set(check, { decision, count: (this.matches.get(check)?.count ?? 0) + 1 });
    }
  }
}

const tailOf = (text: string, characters: number): string => (characters === 0 ? '' : text.slice(-characters));

/** Where the last sentence ends. */
function sentencesEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(SENTENCE_END)) end = match.index + match[0].length;
  return end;
}

/** The last place up to there that lies in no match. */
function unbroken(to: number, spans: readonly GuardrailSpan[]): number {
  let end = to;
  for (const span of spans.toReversed()) if (span.start < end && end < span.end) end = span.start;
  return end;
}
