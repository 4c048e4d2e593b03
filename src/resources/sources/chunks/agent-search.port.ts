import type { Cause } from '../../../kernel/event-sourcing/events.js';

/** A chunk as whoever searches without a model is shown it. */
export type FoundChunk = Readonly<{ text: string; title: string; source: string }>;

export type FoundChunks = Readonly<{
  chunks: readonly FoundChunk[];
  /** A source could not be asked. */
  isPartial: boolean;
}>;

/** Who searches, by the key of an agent. */
export type KeyHolder = Readonly<{ agentId: string; ownerId: string; cause: Cause }>;

/** Searches the sources of an agent for the holders of its key, who are shown what its guardrails let out. */
export abstract class AgentSearch {
  /** @throws Rejection search-failed */
  abstract search(holder: KeyHolder, question: string, chunks: number): Promise<FoundChunks>;
}
