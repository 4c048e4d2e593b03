/** A chunk of a source as prompt templates see it. */
export type PromptDocument = Readonly<{ text: string; title: string; source: string; filename?: string }>;

/** What a template may read, before the rules of each namespace are applied. */
export type PromptNamespaces = Readonly<{
  system: Readonly<{ now: Date; requestId: string; userId: string; apiBaseUrl: string | null }>;
  /** The request's own object; only its scalar values reach the template. */
  passthrough?: Readonly<Record<string, unknown>>;
  /** What was retrieved; empty when nothing was. */
  documents: readonly PromptDocument[];
  /** Tool name or id → action name → result. */
  tools?: Readonly<Record<string, unknown>>;
  attachments?: readonly Readonly<{ filename: string; mimeType: string; size?: number }>[];
  /** Variables of a workflow's run: each by its own name, and all of them as `agent`. */
  variables?: Readonly<Record<string, unknown>>;
  /** The files of a workflow's run by their short references. */
  artifacts?: Readonly<Record<string, unknown>>;
}>;

export type PromptRequest = Readonly<{
  /** A preset's name, the id of a prompt, or an empty string for the default. */
  promptId: string;
  /** Whose prompt it has to be, or who has to hold a grant to use it. */
  ownerId: string;
  /** What to do when the prompt is gone (an agent's reference outlives it) or somebody else's. Default: refuse. */
  whenMissing?: 'refuse' | 'use-default';
  /** The agent retrieves through a tool instead of being given documents. */
  agentic?: boolean;
  namespaces: PromptNamespaces;
}>;

/** A system prompt. When it does not hold the documents itself, they belong into the user's turn. */
export type RenderedPrompt = Readonly<{ text: string; holdsDocuments: boolean }>;

/** Turns a stored prompt into the system prompt of one turn. */
export abstract class PromptRenderer {
  /** @throws Rejection `prompt-not-found`, `prompt-not-renderable` (template error, too long, out of time) */
  abstract render(request: PromptRequest): Promise<RenderedPrompt>;
  /** Renders a text that is no stored prompt; one without expressions stays as it is. @throws Rejection `prompt-not-renderable` */
  abstract fill(text: string, namespaces: PromptNamespaces): Promise<RenderedPrompt>;
}
