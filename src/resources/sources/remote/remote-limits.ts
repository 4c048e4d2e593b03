/** How much one ingestion may fetch. */
export type RemoteLimits = Readonly<{
  pagesMax: number;
  /** The files of a repository or a bucket. */
  filesMax: number;
  pageBytesMax: number;
  /** The bytes of all pages together. */
  bytesMax: number;
  /** The maximum distance of a page from the first page of a crawl, in links. */
  depthMax: number;
  pageMs: number;
  /** The time for all pages together. */
  totalMs: number;
}>;

/** The configured limits. */
export class RemoteOptions {
  constructor(
    readonly limits: RemoteLimits,
    /** The host of GitHub's web pages. */
    readonly githubWebHost: string,
  ) {}
}

/** Longer addresses are not fetched. */
export const PAGE_URL_CHARACTERS_MAX = 2_048;
