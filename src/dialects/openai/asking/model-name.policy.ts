/** The names that clients of DocsGPT send if no model is chosen. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['docsgpt', 'docsgpt-agent']);

/** The model that a request names. Undefined: the agent's own model, also if the request names the agent. */
export const modelNamed = (model: string | null | undefined, agentId: string): string | undefined =>
  !model || model === agentId || PLACEHOLDERS.has(model) ? undefined : model;
