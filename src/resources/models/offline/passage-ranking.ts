import type { ModelDocument } from '../model/language-model.port.js';
import { termsOf } from '../model/terms.js';
import { type Passage, passagesOf } from './passages.js';

/** A passage of a retrieved document with its position in the document and its score for the question. */
export type RankedPassage = Passage & Readonly<{ document: number; place: number; score: number }>;

/** Maximum number of ranked passages. Ranking them takes about 15 ms, which blocks the event loop. */
const PASSAGES_MAX = 1_500;

/** The usual constants of BM25: saturation of repeated terms, and influence of the passage's length. */
const K1 = 1.2;
const B = 0.6;
/** Passages of documents that retrieval ranked higher are more likely to hold the answer. */
const RANK_BONUS = 0.5;
/** Weight of the question's terms in the heading above a passage. */
const HEADING_BONUS = 0.5;

/**
 * The passages that share a term with the question or have all its terms in their heading; best first, equal ones in reading
 * order.
 */
export function rankPassages(question: string, documents: readonly ModelDocument[]): readonly RankedPassage[] {
  const asked = new Set(termsOf(question));
  if (asked.size === 0) return [];
  const considered = consideredOf(documents);
  const weight = inverseFrequencies(asked, considered);
  const averageLength = considered.reduce((sum, { terms }) => sum + terms.length, 0) / Math.max(1, considered.length);

  return considered
    .map(({ passage, document, place, terms }) => {
      const named = new Set(termsOf(passage.heading).filter((term) => asked.has(term)));
      const fit = bm25(terms, weight, averageLength);
      const isUnderSubject = named.size === asked.size;
      const score =
        fit > 0 || isUnderSubject ? (fit + HEADING_BONUS * sum(named, weight)) * (1 + RANK_BONUS / (1 + document)) : 0;
      return { ...passage, document, place, score };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.document - b.document || a.place - b.place);
}

type Considered = Readonly<{ passage: Passage; document: number; place: number; terms: readonly string[] }>;

/** The passages of the documents in the order of retrieval, so that the limit drops the least relevant ones. */
function consideredOf(documents: readonly ModelDocument[]): readonly Considered[] {
  const considered: Considered[] = [];
  for (const [document, { text, title }] of documents.entries()) {
    const room = PASSAGES_MAX - considered.length;
    if (room <= 0) break;
    const passages = passagesOf(text, title).slice(0, room);
    considered.push(...passages.map((passage, place) => ({ passage, document, place, terms: termsOf(passage.text) })));
  }
  return considered;
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
