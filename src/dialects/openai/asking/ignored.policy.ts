/** The configuration of an agent that decides which options of a caller have an effect. */
type Configuration = Readonly<{ agentType: string; allowSystemPromptOverride: boolean }>;

type Sent = Readonly<{
  ignored: readonly string[];
  instructionsAt: readonly string[];
  sampling: Readonly<Record<string, unknown>>;
}>;

/** Types of agents that ignore sampling options of the caller, because they set their own. */
const SAMPLING_THEMSELVES: ReadonlySet<string> = new Set(['research', 'workflow']);

/**
 * The places of the fields in the request that have no effect on this agent. A workflow takes instructions only from its nodes.
 */
export function ignoredBy(
  configuration: Configuration | undefined,
  { ignored, instructionsAt, sampling }: Sent,
): readonly string[] {
  const { agentType = '', allowSystemPromptOverride = false } = configuration ?? {};
  const isInstructed = allowSystemPromptOverride && agentType !== 'workflow';
  return [
    ...(SAMPLING_THEMSELVES.has(agentType) ? Object.keys(sampling) : []),
    ...ignored,
    ...(isInstructed ? [] : instructionsAt),
  ];
}
