/** How much of the web one ingestion may read. */
export type RemoteLimits = Readonly<{
  pagesMax: number;
  /** Of a repository or a bucket. */
  filesMax: number;
  pageBytesMax: number;
  /** Of all pages together. */
  bytesMax: number;
  /** How many links a crawl follows from its first page. */
  depthMax: number;
  pageMs: number;
  /** For all pages together. */
  totalMs: number;
}>;

/** The limits as the service is set up. */
export class RemoteOptions {
  constructor(
    readonly limits: RemoteLimits,
    /** Where people look at repositories. */
    readonly githubWebHost: string,
  ) {}
}

/** A longer address is none that a page has. */
export const PAGE_URL_CHARACTERS_MAX = 2_048;
