/** A chunk of a source as prompt templates see it. */
export type PromptDocument = Readonly<{ text: string; title: string; source: string; filename?: string }>;

/** The values for a template's variables, before the rules of each namespace are applied. */
export type PromptNamespaces = Readonly<{
  system: Readonly<{ now: Date; requestId: string; userId: string; apiBaseUrl: string | null }>;
  /** The `passthrough` object of the request. Only its scalar values reach the template. */
  passthrough?: Readonly<Record<string, unknown>>;
  /** The retrieved chunks. */
  documents: readonly PromptDocument[];
  /** Tool name or id → action name → result. */
  tools?: Readonly<Record<string, unknown>>;
  attachments?: readonly Readonly<{ filename: string; mimeType: string; size?: number }>[];
  /** Variables of a workflow's run. A template reads each by its name, and all of them as `agent`. */
  variables?: Readonly<Record<string, unknown>>;
  /** The files of a workflow's run by their short references. */
  artifacts?: Readonly<Record<string, unknown>>;
}>;

export type PromptRequest = Readonly<{
  /** A preset's name, the id of a prompt, or an empty string for the default. */
  promptId: string;
  /** The user who must own the prompt or hold a grant to use it. */
  ownerId: string;
  /** What to do if the prompt was deleted (an agent may still refer to it) or is not usable. Default: refuse. */
  whenMissing?: 'refuse' | 'use-default';
  /** Whether the agent retrieves documents with a tool, instead of getting them in the prompt. */
  agentic?: boolean;
  namespaces: PromptNamespaces;
}>;

/** A system prompt. If it does not contain the documents, the caller puts them into the user's message. */
export type RenderedPrompt = Readonly<{ text: string; holdsDocuments: boolean }>;

/** Renders a prompt as the system prompt of a turn. */
export abstract class PromptRenderer {
  /** @throws Rejection `prompt-not-found`, `prompt-not-renderable` (template error, too long, out of time) */
  abstract render(request: PromptRequest): Promise<RenderedPrompt>;
  /** Renders a text that is not a stored prompt. Returns plain text unchanged. @throws Rejection `prompt-not-renderable` */
  abstract fill(text: string, namespaces: PromptNamespaces): Promise<RenderedPrompt>;
}
