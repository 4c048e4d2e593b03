/** A piece of a source that was found for a question, best first. `score` orders chunks of one answer, across answers it means nothing. */
export type RetrievedChunk = Readonly<{
  text: string;
  /** The heading the piece stands under, else the name of its source. */
  title: string;
  /** What the client shows as the origin: the name of the source, or a URL. */
  source: string;
  filename: string;
  sourceId: string;
  score: number;
  tokens: number;
}>;

/** What is shown of a chunk that an answer rests on. */
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
  /** Where to look; `chunks` is the source's own count, which wins over its fair share of the total. */
  sources: readonly Readonly<{ id: string; chunks?: number }>[];
  question: string;
  /** How many chunks all sources together give, own counts included: see `selectFairly`. */
  chunks: number;
  /** Whose sources they are. Those of somebody else that no grant lets this user use, unknown and deleted ones count as failed. */
  ownerId: string;
}>;

export type SearchResult = Readonly<{
  chunks: readonly RetrievedChunk[];
  /** Sources that could not be asked, or are not the owner's. They are named, never passed over in silence. */
  failedSources: readonly string[];
}>;

/** Finds the chunks that answer a question. */
export abstract class Search {
  abstract search(request: SearchRequest): Promise<SearchResult>;
}
