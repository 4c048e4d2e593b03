import type { Cause } from '../../../kernel/event-sourcing/events.js';

/** A chunk as a search without a model returns it. */
export type FoundChunk = Readonly<{ text: string; title: string; source: string }>;

export type FoundChunks = Readonly<{
  chunks: readonly FoundChunk[];
  /** Whether a source could not be searched. */
  isPartial: boolean;
}>;

/** The caller of a search, who presents the key of an agent. */
export type KeyHolder = Readonly<{ agentId: string; ownerId: string; cause: Cause }>;

/** Searches the sources of an agent for the holders of its key. The agent's guardrails filter the result. */
export abstract class AgentSearch {
  /** @throws Rejection search-failed */
  abstract search(holder: KeyHolder, question: string, chunks: number): Promise<FoundChunks>;
}
