import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { CustomModelDefinition } from '../../models/custom/custom-model.events.js';
import type { ToolDefinition } from '../../tools/toolbox/tool.events.js';
import type { WorkflowGraph } from '../../workflows/workflow-graph.policy.js';
import type { AgentId } from '../agent.events.js';
import type { ImportedAgent } from '../imported-agent.policy.js';

export type AgentImportId = string;

/** A resource that an import creates besides the agent. Its id is derived from the import. Its secrets are in the vault. */
export type ImportPart = Readonly<
  | { kind: 'tool'; id: string; definition: ToolDefinition }
  | { kind: 'prompt'; id: string; name: string; content: string }
  | { kind: 'model'; id: string; definition: CustomModelDefinition }
  /** A new workflow, or the next version of one. */
  | { kind: 'workflow'; id: string; isNew: boolean; name: string; description: string; graph: WorkflowGraph }
>;

/** Records some of the parts that an import will create. It has no effect until the import is accepted. */
export type AgentImportPrepared = Event<
  'AgentImportPrepared',
  {
    importId: AgentImportId;
    ownerId: string;
    /** The number of parts in the events before this one. */
    after: number;
    parts: readonly ImportPart[];
  }
>;
/** The import will be completed from here on, even if the process crashes. */
export type AgentImportAccepted = Event<
  'AgentImportAccepted',
  {
    importId: AgentImportId;
    ownerId: string;
    agentId: AgentId;
    action: 'created' | 'updated';
    /** The slug that the agent is to get. Null keeps its slug. */
    slug: string | null;
    imported: ImportedAgent;
    /** The agent's previous workflow, which the import deletes. Null if it deletes none. */
    deletes: string | null;
    /** The warnings about the file that the caller received. */
    warnings: readonly string[];
  }
>;
/** The agent matches the file. `agentId` is a new agent if the accepted one was deleted in the meantime. */
export type AgentImportFinished = Event<'AgentImportFinished', { importId: AgentImportId; agentId: AgentId }>;

export type AgentImportEvent = AgentImportPrepared | AgentImportAccepted | AgentImportFinished;

export const agentImportStream = (importId: AgentImportId): string => `agentImport-${importId}`;
