import type { ToolDefinition } from '../../src/resources/tools/toolbox/tool.events.js';
import type { CallContext, Configured, ToolKind, UsedTool } from '../../src/resources/tools/toolbox/tool-kind.port.js';

type Secrets = Readonly<Record<string, string>>;

export const callContext = (more: Partial<CallContext> = {}): CallContext => ({
  callId: 'call-1',
  userId: 'anna',
  agentId: null,
  conversationId: 'conversation-1',
  turnId: 'turn-1',
  sources: [],
  cause: { actor: 'anna', correlationId: 'request-1', causationId: 'request-1' } as unknown as CallContext['cause'],
  signal: new AbortController().signal,
  ...more,
});

/** A tool of a kind as it is stored after configuration. */
export async function configuredTool(
  kind: ToolKind,
  config: Readonly<Record<string, unknown>> = {},
  secrets: Secrets = {},
): Promise<UsedTool> {
  return usedTool(kind, await kind.configure(config, secrets, 'anna', callContext().cause));
}

export const usedTool = (kind: ToolKind, { config, secrets, actions = kind.actions }: Configured): UsedTool => {
  const { name, displayName, description } = kind;
  const definition: ToolDefinition = {
    name,
    displayName,
    customName: '',
    description,
    config,
    credentialsId: null,
    actions,
    status: true,
  };
  return { toolId: 'tool-1', ownerId: 'anna', definition, secrets };
};

/** Calls an action like a turn. */
export async function callTool(kind: ToolKind, tool: UsedTool, name: string, args: Readonly<Record<string, unknown>> = {}) {
  const action = tool.definition.actions.find((each) => each.name === name);
  if (!action) throw new Error(`no action ${name}`);
  const fixed = Object.entries(action.parameters.properties).flatMap(([parameter, { filled_by_llm: filled, value }]) =>
    filled === false && value !== undefined ? [[parameter, value] as const] : [],
  );
  return kind.run(action, { ...args, ...Object.fromEntries(fixed) }, tool, callContext());
}
