/** A chunk that was found for a question. `score` orders the chunks of one search and is not comparable between searches. */
export type RetrievedChunk = Readonly<{
  text: string;
  /** The heading above the chunk, else the name of its source. */
  title: string;
  /** The origin that the client shows: the name of the source, or a URL. */
  source: string;
  filename: string;
  sourceId: string;
  score: number;
  tokens: number;
}>;

/** The fields of a chunk that are shown as a source of an answer. */
export const sourceOf = ({
  text,
  title,
  source,
  filename,
}: RetrievedChunk): Pick<RetrievedChunk, 'text' | 'title' | 'source' | 'filename'> => ({
  text,
  title,
  source,
  filename,
});

export type SearchRequest = Readonly<{
  /** The sources to search. `chunks` is the source's own count, which replaces its fair share of the total. */
  sources: readonly Readonly<{ id: string; chunks?: number }>[];
  question: string;
  /** The number of chunks of all sources together, including own counts. See `selectFairly`. */
  chunks: number;
  /** The owner of the sources. Sources that this user neither owns nor may use by a grant, and deleted ones, count as failed. */
  ownerId: string;
}>;

export type SearchResult = Readonly<{
  chunks: readonly RetrievedChunk[];
  /** The ids of all sources that could not be searched or that the owner may not use. */
  failedSources: readonly string[];
}>;

/** Finds the chunks that answer a question. */
export abstract class Search {
  abstract search(request: SearchRequest): Promise<SearchResult>;
}
