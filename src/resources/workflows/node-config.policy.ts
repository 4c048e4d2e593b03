import type { NodeType } from './workflow-graph.policy.js';

export type AgentNodeType = 'classic' | 'react' | 'agentic' | 'research';
export type FilePassing = 'auto' | 'native' | 'extract';

export type StateOperation = Readonly<{ expression: string; targetVariable: string }>;

export type ConditionCase = Readonly<{ name: string; expression: string; sourceHandle: string }>;

/** What an agent node says, with the defaults of what it leaves out. Empty texts and lists say nothing. */
export type AgentNodeConfig = Readonly<{
  agentType: AgentNodeType;
  systemPrompt: string;
  promptTemplate: string;
  outputVariable: string;
  streamToUser: boolean;
  tools: readonly string[];
  sources: readonly string[];
  chunks: number;
  retriever: string;
  modelId: string;
  jsonSchema: Readonly<Record<string, unknown>> | null;
  /** Variables of the state, ids or short references of artifacts, `*` or `input_documents` for all. */
  inputDocuments: readonly string[];
  filePassing: FilePassing;
}>;

export type CodeNodeConfig = Readonly<{
  code: string;
  inputs: readonly string[];
  outputVariable: string;
  /** Null leaves it to the service. */
  timeoutSeconds: number | null;
  jsonSchema: Readonly<Record<string, unknown>> | null;
}>;

/** The settings of a node, read once: one shape for each type of node. */
export type NodeConfig =
  | Readonly<{ type: 'start' | 'note' }>
  | Readonly<{ type: 'end'; outputTemplate: string }>
  | (Readonly<{ type: 'agent' }> & AgentNodeConfig)
  | Readonly<{ type: 'state'; operations: readonly StateOperation[] }>
  | Readonly<{ type: 'condition'; mode: 'simple' | 'advanced'; cases: readonly ConditionCase[] }>
  | (Readonly<{ type: 'code' }> & CodeNodeConfig);

export type NodeConfigOf<Type extends NodeType> = Extract<NodeConfig, { type: Type }>;
