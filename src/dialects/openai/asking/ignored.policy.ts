/** An agent, as far as it lets callers say how it answers. */
type Configuration = Readonly<{ agentType: string; allowSystemPromptOverride: boolean }>;

type Sent = Readonly<{
  ignored: readonly string[];
  instructionsAt: readonly string[];
  sampling: Readonly<Record<string, unknown>>;
}>;

/** Agents of these types have their models sampled as they are made; what a workflow says to them stands in its nodes. */
const SAMPLING_THEMSELVES: ReadonlySet<string> = new Set(['research', 'workflow']);

/** What was sent and has no effect on such an agent, by its place in the request. */
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
