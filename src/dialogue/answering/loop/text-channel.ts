import {
  type GuardrailDecision,
  type GuardrailSpan,
  maskSpans,
  type OpenMatch,
} from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { GuardrailCheck } from '../../../resources/guardrails/guardrail.policy.js';
import type { LocalScan } from '../../../resources/guardrails/guardrails.port.js';

/** Maximum number of characters that are held for a match that has not ended. The rest of the match is masked as it arrives. */
export const HELD_CHARACTERS_MAX = 16_000;

/** Up to this length, held text is scanned with every delta, so that text is shown as soon as it is decided. */
export const HELD_OFTEN_SCANNED_MAX = 1_024;
/** Longer held text is scanned again when it has grown by this share, so that all its scans together take linear time. */
export const HELD_GROWTH_MIN = 1 / 8;

/**
 * Minimum number of characters that the checks still see of the beginning of a match that was shown masked and continues. Links
 * depend on the whole host name, which has at most 253.
 */
export const MATCH_BEGINNING_MIN = 512;

/** The end of a sentence. Text up to it may be shown before another delta. Numbers and addresses do not end like this. */
const SENTENCE_END = /\n|(?<=[\p{L}\p{Pe}\p{Pf}"'])[.!?…:;](?=\s|$)/gu;

export type LocalCheck = (text: string, before: string) => LocalScan;

type Match = Readonly<{ decision: GuardrailDecision; count: number }>;

/**
 * Checks one text that is shown while it is written: an answer or its thoughts. Holds back text that may still become part of a
 * match, and masks matches. The shown text contains no match, also none that spans another delta.
 */
export class TextChannel {
  private held = '';
  /** Length of the held text after its last scan by `push` and by `seam`. */
  private readonly scanned = { push: 0, seam: 0 };
  /** The matches with the masks of which the shown text ends, and which may continue. */
  private open: readonly OpenMatch[] = [];
  private readonly matches = new Map<GuardrailCheck, Match>();

  constructor(
    private readonly check: LocalCheck,
    /** Called with the decisions of a scan that found a blocking match. It throws. */
    private readonly block: (decisions: readonly GuardrailDecision[]) => never,
    private readonly contextCharacters: number,
    /** The text that was shown before. */
    private before = '',
    /** Makes up the beginning of a match. */
    private readonly beginningOf: (match: OpenMatch) => string | undefined = () => undefined,
    /** The match with the mask of which the text before ends. */
    open?: OpenMatch,
  ) {
    const beginning = open && beginningOf(open);
    this.before = beginning ?? tailOf(before, contextCharacters);
    if (beginning !== undefined) this.open = [open!];
  }

  /** The match with the mask of which the shown text ends, if the checks recognise its rest by its category. */
  get openMatch(): OpenMatch | undefined {
    return this.open.find((match) => this.beginningOf(match) !== undefined);
  }

  get heldCharacters(): number {
    return this.held.length;
  }

  /** The decisions on the text shown so far, one for each control. */
  get decisions(): readonly GuardrailDecision[] {
    return [...this.matches.values()].map(({ decision, count }) => ({ ...decision, matchCount: count }));
  }

  /** Adds text and holds all of it. */
  hold(text: string): void {
    this.held += text;
  }

  /** Adds text and returns the text that may be shown now. Long held text may be shown somewhat later than it could be. */
  push(text: string): string {
    this.held += text;
    return this.shown('push', ({ decidedTo }) => {
      const isTooMuch = this.held.length - decidedTo > HELD_CHARACTERS_MAX;
      return isTooMuch ? this.held.length : decidedTo;
    });
  }

  /** Returns the text up to the last end of a sentence, to be shown before another delta. */
  seam(): string {
    return this.shown('seam', ({ decidedTo }) => Math.max(decidedTo, sentencesEnd(this.held)));
  }

  /** Returns all held text. Later text is checked together with the end of the shown text. */
  end(): string {
    return this.held === '' ? '' : this.release(this.held.length, this.scan());
  }

  /** Adds text and returns all held text. */
  add(text: string): string {
    this.hold(text);
    return this.end();
  }

  /** Drops the held text. */
  forget(): void {
    this.held = '';
    this.scanned.push = this.scanned.seam = 0;
  }

  private get isAmidMatch(): boolean {
    return this.open.length > 0;
  }

  /** Scans the held text, unless it has hardly grown since the last scan for the same purpose. Returns the released text. */
  private shown(purpose: 'push' | 'seam', endOf: (scan: LocalScan) => number): string {
    const { length } = this.held;
    const last = this.scanned[purpose];
    const isDue = last <= HELD_OFTEN_SCANNED_MAX || length >= last * (1 + HELD_GROWTH_MIN) || length > HELD_CHARACTERS_MAX;
    if (length === 0 || !isDue) return '';
    const scan = this.scan();
    const shown = this.release(endOf(scan), scan);
    this.scanned[purpose] = this.held.length;
    return shown;
  }

  private scan(): LocalScan {
    const scan = this.check(this.held, this.before);
    if (scan.spans.some(({ action }) => action === 'block')) this.block(scan.decisions);
    return scan;
  }

  private release(to: number, { spans, decisions }: LocalScan): string {
    const end = to === this.held.length ? to : unbroken(to, spans);
    if (end === 0) return '';
    const own = spans
      .filter(({ start }) => start < end)
      .map((span) => ({ ...span, end: Math.min(span.end, end), open: span.open || span.end > end }));
    this.count(own, decisions);
    // The mask of a match that continues was already shown.
    const masks = own.map((span) => (this.isAmidMatch && span.start === 0 ? { ...span, mask: '' } : span));
    const shown = maskSpans(this.held.slice(0, end), masks);
    const open = own.filter((span) => span.action === 'redact' && span.open && span.end === end);
    this.open = open.map(({ check, category }) => ({ check, category }));
    this.before = this.context(end, open[0]);
    this.held = this.held.slice(end);
    this.scanned.push = Math.max(0, this.scanned.push - end);
    this.scanned.seam = Math.max(0, this.scanned.seam - end);
    return shown;
  }

  /**
   * The end of the text that is shown with the first `end` characters of the held text. Contains the beginning of the match that
   * continues there, because the checks recognise its rest only by that. The middle of a long match is left out.
   */
  private context(end: number, continued: GuardrailSpan | undefined): string {
    const text = this.before + this.held.slice(0, end);
    const tail = tailOf(text, this.contextCharacters);
    if (!continued) return tail;
    // A match that is listed from offset 0 may begin anywhere in the text before.
    const start = continued.start === 0 ? 0 : this.before.length + continued.start;
    const match = text.slice(Math.min(start, text.length - tail.length));
    const beginningMax = 2 * Math.max(this.contextCharacters, MATCH_BEGINNING_MIN);
    return match.length <= beginningMax + tail.length ? match : match.slice(0, beginningMax) + tail;
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

/** The end index of the last complete sentence; 0 if there is none. */
function sentencesEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(SENTENCE_END)) end = match.index + match[0].length;
  return end;
}

/** The last index up to `to` that is not inside a match. */
function unbroken(to: number, spans: readonly GuardrailSpan[]): number {
  let end = to;
  for (const span of spans.toReversed()) if (span.start < end && end < span.end) end = span.start;
  return end;
}
