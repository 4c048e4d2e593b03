import { haveTitle, titleOfPlaces } from './chunk-title.policy.js';
import type { Chunk, Chunking, Place, Section } from './document.port.js';
import { isTrailSurrogate, tokenCount } from './token-count.js';

/** Where a text may be cut, best places first. Each match ends with the separator, so that the pieces add up to the text. */
const CUTS = [/\n[^\S\n]*\n\s*/g, /\n/g, /[.!?…。！？][)\]"'”’]*\s+|[。！？]/gu, /\s+/g];

/** A longer text is cut without counting its tokens first. Only its pieces are counted. */
const COUNTED_CHARS_PER_TOKEN = 16;

/** How far a cut inside a word moves back in order not to separate a letter from its accents. */
const ACCENTS_MAX = 32;

/** A text that may become a chunk or be joined with another, and the places it comes from. */
type Draft = Readonly<{ places: readonly Place[]; text: string; tokens: number }>;

/** Cuts sections that are too long and joins neighbours that are too short. The result is deterministic. */
export function chunksOf(sections: readonly Section[], chunking: Chunking): readonly Chunk[] {
  const drafts: Draft[] = [];
  for (const section of sections) {
    for (const text of split(section.text, chunking.maxTokens)) {
      const draft = { places: [section], text, tokens: tokenCount(text) };
      const last = drafts.at(-1);
      const joined = last && isShort(last, draft, chunking) ? join(last, draft, chunking) : undefined;
      if (joined) drafts[drafts.length - 1] = joined;
      else drafts.push(draft);
    }
  }
  return joinShortEnd(drafts, chunking).map(({ places, text, tokens }) => ({ title: titleOfPlaces(places), text, tokens }));
}

const isShort = (last: Draft, next: Draft, { minTokens, maxTokens }: Chunking): boolean =>
  last.tokens < minTokens && last.tokens + next.tokens <= maxTokens;

/** Undefined if the two together are too long or come from more places than a title can name. */
function join(first: Draft, second: Draft, { maxTokens }: Chunking): Draft | undefined {
  const places = [...first.places, ...second.places];
  if (!haveTitle(places)) return undefined;
  const text = `${first.text}\n\n${second.text}`;
  const tokens = tokenCount(text);
  return tokens <= maxTokens ? { places, text, tokens } : undefined;
}

function joinShortEnd(drafts: readonly Draft[], chunking: Chunking): readonly Draft[] {
  const [before, last] = [drafts.at(-2), drafts.at(-1)];
  if (!before || !last || last.tokens >= chunking.minTokens) return drafts;
  const joined = join(before, last, chunking);
  return joined ? [...drafts.slice(0, -2), joined] : drafts;
}

function split(text: string, maxTokens: number): readonly string[] {
  const whole = text.trim();
  if (whole === '') return [];
  if (fits(whole, maxTokens)) return [whole];
  return pack(pieces(whole, maxTokens, 0), maxTokens);
}

const fits = (text: string, maxTokens: number): boolean =>
  text.length <= maxTokens * COUNTED_CHARS_PER_TOKEN && tokenCount(text) <= maxTokens;

/** Cuts a text at the best places. Pieces that are still too long are cut at the next best. */
function pieces(text: string, maxTokens: number, level: number): readonly string[] {
  const cut = CUTS[level];
  if (!cut) return slices(text, maxTokens);
  return cutAfter(text, cut).flatMap((piece) => (fits(piece, maxTokens) ? [piece] : pieces(piece, maxTokens, level + 1)));
}

function cutAfter(text: string, cut: RegExp): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  for (const match of text.matchAll(cut)) {
    const end = match.index + match[0].length;
    parts.push(text.slice(start, end));
    start = end;
  }
  if (start < text.length) parts.push(text.slice(start));
  return parts;
}

/** Cuts a very long word, such as encoded data, into slices that fit, since no character takes more than four tokens. */
function slices(text: string, maxTokens: number): readonly string[] {
  const step = Math.max(1, Math.floor(maxTokens / 4));
  const parts: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = characterBoundary(text, start, Math.min(start + step, text.length));
    parts.push(text.slice(start, end));
    start = end;
  }
  return parts;
}

const JOINED_TO_THE_LEFT = /^[\p{M}\u200d\ufe0f]/u;

function characterBoundary(text: string, start: number, wanted: number): number {
  let end = wanted;
  while (end < text.length && end > start + 1 && wanted - end < ACCENTS_MAX && partsCharacter(text, end)) end--;
  if (end > start + 1 && !partsCharacter(text, end)) return end;
  return isTrailSurrogate(text.charCodeAt(wanted)) ? wanted + 1 : wanted;
}

const partsCharacter = (text: string, at: number): boolean =>
  at < text.length &&
  (isTrailSurrogate(text.charCodeAt(at)) ||
    text.charCodeAt(at - 1) === 0x200d ||
    JOINED_TO_THE_LEFT.test(text.slice(at, at + 2)));

/** Joins as many successive pieces as fit by the sum of their tokens. */
function pack(parts: readonly string[], maxTokens: number): readonly string[] {
  const groups: string[][] = [[]];
  let tokens = 0;
  for (const part of parts) {
    const more = tokenCount(part);
    if (tokens > 0 && tokens + more > maxTokens) {
      groups.push([]);
      tokens = 0;
    }
    groups.at(-1)!.push(part);
    tokens += more;
  }
  return groups.flatMap((group) => joined(group, maxTokens)).filter((text) => text !== '');
}

/** Halves the rare group that has more tokens as one text than the sum of its pieces. */
function joined(group: readonly string[], maxTokens: number): readonly string[] {
  const text = group.join('').trim();
  if (group.length < 2 || tokenCount(text) <= maxTokens) return [text];
  const half = Math.ceil(group.length / 2);
  return [...joined(group.slice(0, half), maxTokens), ...joined(group.slice(half), maxTokens)];
}
