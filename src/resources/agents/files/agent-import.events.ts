import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { CustomModelDefinition } from '../../models/custom/custom-model.events.js';
import type { ToolDefinition } from '../../tools/toolbox/tool.events.js';
import type { WorkflowGraph } from '../../workflows/workflow-graph.policy.js';
import type { AgentId } from '../agent.events.js';
import type { ImportedAgent } from '../imported-agent.policy.js';

export type AgentImportId = string;

/** Something that an import makes beside the agent, under an id that is derived from the import. Secrets are not here but sealed. */
export type ImportPart = Readonly<
  | { kind: 'tool'; id: string; definition: ToolDefinition }
  | { kind: 'prompt'; id: string; name: string; content: string }
  | { kind: 'model'; id: string; definition: CustomModelDefinition }
  /** A new workflow, or the next version of one. */
  | { kind: 'workflow'; id: string; isNew: boolean; name: string; description: string; graph: WorkflowGraph }
>;

/** What an import is going to make. Of several such events each goes on where the one before ended; until the acceptance nothing is decided. */
export type AgentImportPrepared = Event<
  'AgentImportPrepared',
  {
    importId: AgentImportId;
    ownerId: string;
    /** How many parts were named before. */
    after: number;
    parts: readonly ImportPart[];
  }
>;
/** From here on the import will be done, whichever process crashes. */
export type AgentImportAccepted = Event<
  'AgentImportAccepted',
  {
    importId: AgentImportId;
    ownerId: string;
    agentId: AgentId;
    action: 'created' | 'updated';
    /** What the agent is to be called by; null: it keeps what it has. */
    slug: string | null;
    imported: ImportedAgent;
    /** The workflow that the agent leaves and that goes with that; null: none. */
    deletes: string | null;
    /** What the owner was told about the file. */
    warnings: readonly string[];
  }
>;
/** The agent is as the file says. It is another one than was meant where that one was deleted meanwhile. */
export type AgentImportFinished = Event<'AgentImportFinished', { importId: AgentImportId; agentId: AgentId }>;

export type AgentImportEvent = AgentImportPrepared | AgentImportAccepted | AgentImportFinished;

export const agentImportStream = (importId: AgentImportId): string => `agentImport-${importId}`;
