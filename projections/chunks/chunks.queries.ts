import { Queries } from '../read-models.js';
import { moreWords } from './more-words.js';

/**
 * The part of a source that searches need. Without `liveId` the source has no chunks to search: no ingestion has succeeded yet.
 */
export type SearchedSource = Readonly<{
  sourceId: string;
  name: string;
  ownChunks: number | null;
  liveId: string | null;
  chunks: number;
  /** How often the owner has edited the live chunks. */
  edits: number;
}>;

/** A word of a question in the form in which it is indexed, and how much a match of it counts. */
export type WeightedTerm = Readonly<{ term: string; weight: number }>;

export type RankedChunk = Readonly<{ ordinal: number; score: number }>;

export type ChunkRecord = Readonly<{ ordinal: number; filename: string; title: string; text: string; tokens: number }>;

export type ChunkVector = Readonly<{ ordinal: number; embedding: Buffer }>;

/** The maximum number of words of a question that are searched for. */
const TERMS_MAX = 64;

/** The maximum numbers of chunks that are ranked: chunks with all words, and chunks with one of the rarer words. */
const WITH_ALL_TERMS_MAX = 500;
const WITH_RARE_TERMS_MAX = 1_500;

/** The minimum similarity of a question and a title if no chunk has a word of the question. */
const TITLE_SIMILARITY_MIN = 0.35;

/** The weights of a word by its place, in the order of Postgres' labels D, C, B, A: text, unused, unused, title. */
const PLACE_WEIGHTS = [0.35, 0.5, 0.7, 1];

export class ChunkQueries extends Queries {
  /** The sources among these ids that exist and that the owner has or that are in `granted`. */
  async sources(ownerId: string, ids: readonly string[], granted: readonly string[] = []): Promise<readonly SearchedSource[]> {
    return this.sql<SearchedSource[]>`
      select source_id as "sourceId", name, own_chunks as "ownChunks", live_id as "liveId", live_chunks as chunks, edits
      from chunks.source
      where (owner_id = ${ownerId} or source_id = any (${granted as string[]}::text[])) and source_id = any (${ids as string[]}::text[])`;
  }

  /** Whether searches of the source find these chunks. Also true for a deleted source, which will never have other chunks. */
  async isSearchable(sourceId: string, chunksId: string): Promise<boolean> {
    const [row] = await this.sql`select live_id from chunks.source where source_id = ${sourceId}`;
    return row === undefined || row['live_id'] === chunksId;
  }

  /** The words of a question in the form in which they are indexed: without stop words, accents and endings. */
  async termsOf(question: string): Promise<readonly string[]> {
    const [row] = await this.sql`
      select tsvector_to_array(to_tsvector('chunks.question', ${`${question} ${moreWords(question)}`})) as terms`;
    return (row?.['terms'] as string[]).slice(0, TERMS_MAX);
  }

  /** The number of chunks that have each term, in the order of the terms. */
  async frequencies(chunksId: string, terms: readonly string[]): Promise<readonly number[]> {
    const rows = await this.sql`
      select (select count(*)::integer from chunks.chunk where chunks_id = ${chunksId} and words @@ term.query) as having
      from unnest(${terms.map(asQuery)}::text[]::tsquery[]) with ordinality as term (query, place) order by place`;
    return rows.map((row) => row['having'] as number);
  }

  /**
   * The best chunks of one source for terms that occur in it. `rare`: the terms that few chunks have. Only chunks with all terms
   * and chunks with a rare term are ranked, because a chunk with only common terms cannot be among the best. Postgres stores the
   * words of a long chunk compressed: concatenating an empty vector decompresses them once instead of once for every term.
   */
  async ranked(
    chunksId: string,
    question: string,
    terms: readonly WeightedTerm[],
    rare: readonly string[],
    limit: number,
  ): Promise<readonly RankedChunk[]> {
    const all = terms.map(({ term }) => asQuery(term));
    return this.sql<RankedChunk[]>`
      with term as (
        select query, weight from unnest(${all}::text[]::tsquery[], ${terms.map(({ weight }) => weight)}::float8[]) as term (query, weight)
      ), found as (
        (select ordinal from chunks.chunk where chunks_id = ${chunksId} and words @@ ${all.join(' & ')}::tsquery limit ${WITH_ALL_TERMS_MAX})
        union
        (select ordinal from chunks.chunk where chunks_id = ${chunksId} and words @@ ${rare.map(asQuery).join(' | ')}::tsquery limit ${WITH_RARE_TERMS_MAX})
      ), candidate as materialized (
        select ordinal, title, words || ''::tsvector as words from found join chunks.chunk using (ordinal) where chunks_id = ${chunksId}
      )
      select ordinal,
        (select sum(weight * ts_rank(${PLACE_WEIGHTS}::float4[], words, query, 1)) from term)
          * (1 + ts_rank_cd(${PLACE_WEIGHTS}::float4[], words, ${all.join(' & ')}::tsquery, 32))
          + 0.01 * public.word_similarity(title, ${question}) as score
      from candidate
      order by score desc, ordinal limit ${limit}`;
  }

  /**
   * For a question whose words are in no chunk, for example because of a misspelling: chunks whose title resembles the question.
   */
  async rankedByTitle(chunksId: string, question: string, limit: number): Promise<readonly RankedChunk[]> {
    return this.sql<RankedChunk[]>`
      select * from (
        select ordinal, public.word_similarity(title, ${question}) as score
        from chunks.chunk where chunks_id = ${chunksId}
      ) as chunk where score >= ${TITLE_SIMILARITY_MIN} order by score desc, ordinal limit ${limit}`;
  }

  /** A hash of the text of each chunk by its ordinal. */
  async fingerprints(chunksId: string, ordinals: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const rows = await this.sql`
      select ordinal, md5(text) as fingerprint from chunks.chunk
      where chunks_id = ${chunksId} and ordinal = any (${ordinals as number[]}::integer[])`;
    return new Map(rows.map((row) => [row['ordinal'] as number, row['fingerprint'] as string]));
  }

  async records(chunksId: string, ordinals: readonly number[]): Promise<readonly ChunkRecord[]> {
    return this.sql<ChunkRecord[]>`
      select ordinal, filename, title, text, tokens from chunks.chunk
      where chunks_id = ${chunksId} and ordinal = any (${ordinals as number[]}::integer[])`;
  }

  /** All embeddings of one model, in pages. */
  async *vectors(chunksId: string, model: string, pageSize: number): AsyncIterable<readonly ChunkVector[]> {
    for (let after = -1; ;) {
      const rows = await this.sql<ChunkVector[]>`
        select ordinal, embedding from chunks.chunk
        where chunks_id = ${chunksId} and embedding_model = ${model} and ordinal > ${after} order by ordinal limit ${pageSize}`;
      if (rows.length === 0) return;
      yield rows;
      after = rows.at(-1)!.ordinal;
    }
  }

  /** One page of a source's chunks, in order, and their total number. `path` restricts them to one file, `search` to a text. */
  async page(sourceId: string, { path, search }: { path?: string; search?: string }, limit: number, offset: number) {
    const { sql } = this;
    const which = sql`
      chunk.source_id = ${sourceId} and chunks_id = (select live_id from chunks.source where source_id = ${sourceId})
      ${path ? sql`and filename = ${path}` : sql``}
      ${search ? sql`and (strpos(lower(text), lower(${search})) > 0 or strpos(lower(title), lower(${search})) > 0)` : sql``}`;
    const [count] = await sql<{ total: number }[]>`select count(*)::integer as total from chunks.chunk where ${which}`;
    const records = await sql<(ChunkRecord & { chunkId: string })[]>`
      select ordinal, filename, title, text, tokens, chunks_id || '-' || ordinal as "chunkId" from chunks.chunk
      where ${which} order by ordinal limit ${limit} offset ${offset}`;
    return { total: count?.total ?? 0, records };
  }

  /** The number of tokens in the chunks of each file of a source. */
  async tokensByFile(sourceId: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.sql`
      select filename, sum(tokens)::integer as tokens from chunks.chunk join chunks.source on chunks_id = live_id
      where chunk.source_id = ${sourceId} group by filename`;
    return new Map(rows.map((row) => [row['filename'] as string, row['tokens'] as number]));
  }
}

/** The query that matches exactly this term, with quotes and backslashes escaped. */
const asQuery = (term: string): string => `'${term.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
