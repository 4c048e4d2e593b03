/** What answers the readers of a link: an agent, or a prompt and a source. */
export type LinkTerms = Readonly<{
  agentId: string | null;
  promptId: string;
  sourceId: string | null;
  /** The number of chunks to retrieve. Undefined for the default. */
  chunks?: number;
}>;

export type AskingLink = Readonly<{ linkId: string; ownerId: string; terms: LinkTerms }>;

/** Looks up the links to conversations whose readers may ask. Ended links and links to deleted conversations are not found. */
export abstract class AskingLinks {
  /** @param hash the result of `linkTokenHash` */
  abstract byHash(hash: string): Promise<AskingLink | undefined>;
  abstract isCurrent(linkId: string): Promise<boolean>;
}
