import type { ModelDocument } from '../model/language-model.port.js';
import { termsOf } from '../model/terms.js';

/** A sentence of a retrieved document, and how well it fits the question. */
export type RankedSentence = Readonly<{ text: string; document: number; place: number; score: number }>;

const DOCUMENT_CHARACTERS_MAX = 20_000;
/** Ranking this many takes about 15 ms, during which nobody else is served. */
const SENTENCES_MAX = 1_500;
const SENTENCE_CHARACTERS_MAX = 600;

/** BM25's usual constants: how soon repetition stops to count, and how much length does. */
const K1 = 1.2;
const B = 0.6;
/** What retrieval ranked first is a little more likely to hold the answer. */
const RANK_BONUS = 0.15;
/** A title that speaks of the question lends its sentences some weight. */
const TITLE_BONUS = 0.5;

/** Every sentence that shares a word with the question, best first; equal ones in reading order. */
export function rankSentences(question: string, documents: readonly ModelDocument[]): readonly RankedSentence[] {
  const asked = new Set(termsOf(question));
  if (asked.size === 0) return [];
  const considered = consideredOf(documents);
  const weight = inverseFrequencies(asked, considered);
  const averageLength = considered.reduce((sum, { terms }) => sum + terms.length, 0) / Math.max(1, considered.length);
  const titleWeight = documents.map(({ title }) => TITLE_BONUS * sum(new Set(termsOf(title)), weight));

  return considered
    .map(({ text, document, place, terms }) => {
      const fit = bm25(terms, weight, averageLength);
      const score = fit && (fit + titleWeight[document]!) * (1 + RANK_BONUS / (1 + document));
      return { text, document, place, score };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.document - b.document || a.place - b.place);
}

type Sentence = Readonly<{ text: string; document: number; place: number; terms: readonly string[] }>;

/** What was found first is considered first, so what is left out matters least. */
function consideredOf(documents: readonly ModelDocument[]): readonly Sentence[] {
  const considered: Sentence[] = [];
  for (const [document, { text }] of documents.entries()) {
    const room = SENTENCES_MAX - considered.length;
    if (room <= 0) break;
    const sentences = sentencesOf(text).slice(0, room);
    considered.push(...sentences.map((sentence, place) => ({ text: sentence, document, place, terms: termsOf(sentence) })));
  }
  return considered;
}

/** A block of code answers nobody, though it may hold the very words of the question. */
const FENCED_CODE = /^[ \t]*(```|~~~)[^]*?(^[ \t]*\1|(?![^]))/gmu;

/** Sentences and single lines; marks of headings, lists and quotes are taken off, blocks of code are left out. */
function sentencesOf(text: string): readonly string[] {
  return text
    .slice(0, DOCUMENT_CHARACTERS_MAX)
    .replace(FENCED_CODE, '\n\n')
    .split(/\n\s*\n|\n(?=[^\S\n]*(?:[-*+>#|]|\d+[.)]))/u)
    .map((paragraph) =>
      cellsOf(paragraph)
        .replace(/^\s*(?:[#>*+-]+|\d+[.)])\s+/u, '')
        .replace(/\s+/gu, ' ')
        .trim(),
    )
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?。！？])\s+(?=[\p{Lu}\p{N}"'“‘(`])/u))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
    .map((sentence) => (sentence.length > SENTENCE_CHARACTERS_MAX ? `${sentence.slice(0, SENTENCE_CHARACTERS_MAX)}…` : sentence));
}

/** The row of a table reads as its cells side by side. */
function cellsOf(paragraph: string): string {
  const row = paragraph.trim();
  if (!/^\|.*\|$/u.test(row)) return paragraph;
  const cells = row.slice(1, -1).split(/(?<!\\)\|/u);
  return cells.map((cell) => cell.trim()).join(' – ');
}

type Weights = ReadonlyMap<string, number>;

function inverseFrequencies(asked: ReadonlySet<string>, sentences: readonly { terms: readonly string[] }[]): Weights {
  const containing = new Map([...asked].map((term) => [term, 0]));
  for (const { terms } of sentences) {
    for (const term of new Set(terms)) {
      const count = containing.get(term);
      if (count !== undefined) containing.set(term, count + 1);
    }
  }
  return new Map([...containing].map(([term, n]) => [term, Math.log(1 + (sentences.length - n + 0.5) / (n + 0.5))]));
}

function bm25(terms: readonly string[], weight: Weights, averageLength: number): number {
  const counts = new Map<string, number>();
  for (const term of terms) if (weight.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
  const length = 1 - B + (B * terms.length) / Math.max(1, averageLength);
  return [...counts].reduce((sum, [term, n]) => sum + (weight.get(term)! * n * (K1 + 1)) / (n + K1 * length), 0);
}

const sum = (terms: ReadonlySet<string>, weight: Weights) =>
  [...terms].reduce((total, term) => total + (weight.get(term) ?? 0), 0);
