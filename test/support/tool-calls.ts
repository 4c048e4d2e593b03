import type { CallContext, ToolKind, UsedTool } from '../../src/resources/tools/toolbox/tool-kind.port.js';
import { cause } from './turns.js';

let calls = 0;

/** The context of a call of Alice's, with a new call id. */
export const callContext = (more: Partial<CallContext> = {}): CallContext => ({
  callId: `call-${++calls}`,
  userId: 'alice',
  agentId: null,
  conversationId: 'c1',
  turnId: 't1',
  sources: [],
  cause,
  signal: new AbortController().signal,
  ...more,
});

/** A tool of a kind, as its owner configured it. */
export const usedTool = (
  kind: ToolKind,
  more: Partial<UsedTool['definition']> = {},
  secrets: UsedTool['secrets'] = {},
): UsedTool => ({
  toolId: 'tool-1',
  ownerId: 'alice',
  secrets,
  definition: {
    name: kind.name,
    displayName: kind.displayName,
    customName: '',
    description: kind.description,
    config: {},
    credentialsId: null,
    actions: kind.actions,
    status: true,
    ...more,
  },
});

/** Calls an action like a model. */
export function callTool(
  kind: ToolKind,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { context = callContext(), tool = usedTool(kind) }: Readonly<{ context?: CallContext; tool?: UsedTool }> = {},
): Promise<unknown> {
  const action = kind.actions.find((each) => each.name === name);
  if (!action) throw new Error(`${kind.name} has no action ${name}.`);
  return kind.run(action, args, tool, context);
}
