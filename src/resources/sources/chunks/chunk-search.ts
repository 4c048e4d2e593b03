import type { Reaching } from '../../identity/reaching.js';
import { Logger } from '@nestjs/common';
import type { ChunkQueries, RankedChunk, SearchedSource } from '../../../../projections/chunks/chunks.queries.js';
import { eachOf } from '../../../kernel/each-of.js';
import type { Embeddings } from '../../models/model/embeddings.port.js';
import { chunksWithinBounds, fuse, inverseFrequency, selectFairly } from '../source/retrieval.policy.js';
import { type RetrievedChunk, Search, type SearchRequest, type SearchResult } from './search.port.js';
import { storableText } from '../../documents/storable-text.policy.js';
import type { VectorIndex } from './vector-index.js';

/** Only the beginning of a longer question is searched for. */
const QUESTION_CHARACTERS_MAX = 10_000;
const SOURCES_AT_ONCE_MAX = 4;

/** Words count as rare while at most this many chunks of a source contain one of them. */
const RARE_CHUNKS_MAX = 1_000;

/** A long question is ranked by this many of its rarest words. */
const RANKED_TERMS_MAX = 24;

/** The number of extra chunks that are ranked, in case some have the same text. */
const REPETITIONS_MAX = 20;

/** The time limit for the embedding of a question. Without it the search uses words alone. */
const EMBEDDING_MS = 5_000;

const logger = new Logger('Search');

type Searched = SearchedSource & Readonly<{ liveId: string; limit: number }>;
type Found = Readonly<{ key: string; source: Searched; sourceId: string; ordinal: number; score: number }>;
type PerSource<T> = ReadonlyMap<Searched, T>;

/** Finds chunks by the words of the question and, if embeddings are configured, by its meaning. */
export class ChunkSearch extends Search {
  constructor(
    private readonly queries: ChunkQueries,
    private readonly vectors: VectorIndex,
    private readonly embeddings: Embeddings | undefined,
    private readonly reaching: Pick<Reaching, 'usable'>,
  ) {
    super();
  }

  async search({ sources, question, chunks, ownerId }: SearchRequest): Promise<SearchResult> {
    const total = chunksWithinBounds(chunks);
    if (total === 0 || sources.length === 0) return { chunks: [], failedSources: [] };
    const text = storableText(question.slice(0, QUESTION_CHARACTERS_MAX));
    const [statuses, terms] = await Promise.all([
      this.statuses(ownerId, [...new Set(sources.map(({ id }) => id))]),
      this.queries.termsOf(text),
    ]);
    const asked = statuses.map(({ sourceId, ownChunks }) => {
      const own = sources.find(({ id }) => id === sourceId)?.chunks ?? ownChunks ?? undefined;
      return { id: sourceId, ...(own !== undefined && { chunks: chunksWithinBounds(own) }) };
    });
    const searched = statuses.flatMap((source, index): Searched[] =>
      source.liveId === null
        ? []
        : [{ ...source, liveId: source.liveId, limit: (asked[index]!.chunks ?? total) + REPETITIONS_MAX }],
    );
    const isSearched = new Set(searched.map(({ sourceId }) => sourceId));
    const failures = new Failures(sources.map(({ id }) => id).filter((id) => !isSearched.has(id)));
    const [byWords, byMeaning] = await Promise.all([
      this.byWords(searched, text, terms, failures),
      this.byMeaning(searched, text, failures),
    ]);
    failures.throwIfNothingElse(searched, byWords);
    const found = byMeaning ? fused([byWords, byMeaning]) : byWords;
    const selected = selectFairly(await this.withoutRepetitions(found), asked, total);
    return { chunks: await this.retrieved(selected), failedSources: failures.ids };
  }

  /** Those of these sources that the owner owns or may use by a grant. */
  private async statuses(ownerId: string, ids: readonly string[]) {
    const own = await this.queries.sources(ownerId, ids);
    if (own.length === ids.length) return own;
    const known = new Set(own.map(({ sourceId }) => sourceId));
    const others = ids.filter((id) => !known.has(id));
    const granted = await this.reaching.usable(ownerId, 'sources', others);
    return granted.size > 0 ? this.queries.sources(ownerId, ids, [...granted]) : own;
  }

  /**
   * Ranks by words. The weight of a rare word is computed over all sources together, so that scores are comparable across
   * sources.
   */
  private async byWords(
    searched: readonly Searched[],
    question: string,
    terms: readonly string[],
    failures: Failures,
  ): Promise<readonly Found[]> {
    const frequencies = await perSource(searched, failures, ({ liveId }) => this.queries.frequencies(liveId, terms));
    const all = sum([...frequencies.keys()].map(({ chunks }) => chunks));
    const having = terms.map((_, index) => sum([...frequencies.values()].map((each) => each[index]!)));
    if (having.every((count) => count === 0)) {
      return asFound(
        await perSource(searched, failures, ({ liveId, limit }) => this.queries.rankedByTitle(liveId, question, limit)),
      );
    }
    const ranked = await perSource([...frequencies.keys()], failures, (source) => {
      const here = frequencies.get(source)!;
      const present = terms
        .map((term, index) => ({ term, weight: inverseFrequency(having[index]!, all), here: here[index]! }))
        .filter((each) => each.here > 0)
        .sort((a, b) => b.weight - a.weight)
        .slice(0, RANKED_TERMS_MAX);
      return present.length === 0 ? [] : this.queries.ranked(source.liveId, question, present, rareOf(present), source.limit);
    });
    return asFound(ranked);
  }

  /** Ranks by meaning. Undefined without embeddings. Sources that could not be searched this way are reported as failed. */
  private async byMeaning(
    searched: readonly Searched[],
    question: string,
    failures: Failures,
  ): Promise<readonly Found[] | undefined> {
    const { embeddings } = this;
    if (!embeddings || searched.length === 0) return undefined;
    const vector = await embeddings.embed([question], AbortSignal.timeout(EMBEDDING_MS)).then(
      ([first]) => first,
      (error: unknown) => {
        logger.warn(`The question got no embedding, so words alone decide: ${messageOf(error)}`);
        return undefined;
      },
    );
    if (!vector) {
      for (const source of searched) failures.add(source);
      return undefined;
    }
    return asFound(
      await perSource(searched, failures, ({ liveId, limit, edits }) =>
        this.vectors.nearest(liveId, embeddings.model, vector, limit, edits),
      ),
    );
  }

  /** Keeps only the best of several chunks with the same text. */
  private async withoutRepetitions(found: readonly Found[]): Promise<readonly Found[]> {
    const fingerprints = new Map<string, string>();
    for (const [source, ordinals] of bySource(found)) {
      for (const [ordinal, fingerprint] of await this.queries.fingerprints(source.liveId, ordinals)) {
        fingerprints.set(keyOf(source, ordinal), fingerprint);
      }
    }
    const seen = new Set<string>();
    return [...found]
      .sort((a, b) => b.score - a.score)
      .filter(({ key }) => {
        const fingerprint = fingerprints.get(key);
        if (fingerprint === undefined || seen.has(fingerprint)) return false;
        seen.add(fingerprint);
        return true;
      });
  }

  private async retrieved(selected: readonly Found[]): Promise<readonly RetrievedChunk[]> {
    const retrieved = new Map<string, Omit<RetrievedChunk, 'score'>>();
    for (const [source, ordinals] of bySource(selected)) {
      for (const { ordinal, ...record } of await this.queries.records(source.liveId, ordinals)) {
        retrieved.set(keyOf(source, ordinal), { ...record, source: source.name, sourceId: source.sourceId });
      }
    }
    return selected.flatMap(({ key, score }) => {
      const chunk = retrieved.get(key);
      return chunk ? [{ ...chunk, score }] : [];
    });
  }
}

/** The sources that a search could not read, and why. */
class Failures {
  private readonly failed = new Map<string, unknown>();

  /** `unsearchable`: sources that are not ingested, deleted, unknown or not the owner's. */
  constructor(unsearchable: readonly string[]) {
    for (const sourceId of unsearchable) this.failed.set(sourceId, undefined);
  }

  add({ sourceId }: SearchedSource, error?: unknown): void {
    this.failed.set(sourceId, error);
    if (error !== undefined) logger.warn(`The source ${sourceId} could not be searched: ${messageOf(error)}`);
  }

  get ids(): readonly string[] {
    return [...this.failed.keys()];
  }

  /** Fails the search if all sources failed and nothing was found. */
  throwIfNothingElse(searched: readonly Searched[], found: readonly Found[]): void {
    const errors = searched.map(({ sourceId }) => this.failed.get(sourceId));
    if (found.length === 0 && errors.length > 0 && errors.every((error) => error !== undefined)) {
      throw new Error('None of the sources could be searched.', { cause: errors[0] });
    }
  }
}

/** Runs a query on each source, a few concurrently. A failure is recorded and does not affect the others. */
async function perSource<T>(
  sources: readonly Searched[],
  failures: Failures,
  ask: (source: Searched) => T | Promise<T>,
): Promise<PerSource<T>> {
  const answers = new Map<Searched, T>();
  const note = async (source: Searched) => {
    try {
      answers.set(source, await ask(source));
    } catch (error) {
      failures.add(source, error);
    }
  };
  await eachOf(sources, note, SOURCES_AT_ONCE_MAX);
  return answers;
}

const keyOf = ({ liveId }: Searched, ordinal: number): string => `${liveId} ${ordinal}`;

const asFound = (answers: PerSource<readonly RankedChunk[]>): readonly Found[] =>
  [...answers].flatMap(([source, ranked]) =>
    ranked.map(({ ordinal, score }) => ({ key: keyOf(source, ordinal), source, sourceId: source.sourceId, ordinal, score })),
  );

function fused(rankings: readonly (readonly Found[])[]): readonly Found[] {
  const scores = fuse(rankings.map((found) => [...found].sort((a, b) => b.score - a.score).map(({ key }) => key)));
  const each = new Map(rankings.flat().map((found) => [found.key, found]));
  return [...each.values()].map((found) => ({ ...found, score: scores.get(found.key)! }));
}

function bySource(found: readonly Found[]): ReadonlyMap<Searched, readonly number[]> {
  const grouped = new Map<Searched, number[]>();
  for (const { source, ordinal } of found) grouped.set(source, [...(grouped.get(source) ?? []), ordinal]);
  return grouped;
}

function rareOf(present: readonly { term: string; here: number }[]): readonly string[] {
  const [rarest, ...others] = [...present].sort((a, b) => a.here - b.here);
  let covered = rarest!.here;
  const rare = others.filter(({ here }) => (covered += here) <= RARE_CHUNKS_MAX);
  return [rarest!.term, ...rare.map(({ term }) => term)];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
