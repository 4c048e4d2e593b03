import { nodeConfigOf } from './node-config.policy.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';

/** The distinct tools and sources that the agent nodes of a graph use. */
export type NodeReferences = Readonly<{ tools: readonly string[]; sources: readonly string[] }>;

export function referencesIn({ nodes }: WorkflowGraph): NodeReferences {
  const agents = nodes.map(nodeConfigOf).filter((config) => config?.type === 'agent');
  return {
    tools: [...new Set(agents.flatMap(({ tools }) => tools))],
    sources: [...new Set(agents.flatMap(({ sources }) => sources))],
  };
}
