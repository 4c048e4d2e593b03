/** What readers of a link ask: an agent, or else a prompt and a source. */
export type LinkTerms = Readonly<{
  agentId: string | null;
  promptId: string;
  sourceId: string | null;
  /** Missing: as many as without a wish. */
  chunks?: number;
}>;

/** A link whose readers may ask. */
export type AskingLink = Readonly<{ linkId: string; ownerId: string; terms: LinkTerms }>;

/** Finds the links to conversations whose readers may ask. One that has ended, or whose conversation is deleted, is none. */
export abstract class AskingLinks {
  /** @param hash as `linkTokenHash` gives it */
  abstract byHash(hash: string): Promise<AskingLink | undefined>;
  abstract isCurrent(linkId: string): Promise<boolean>;
}
