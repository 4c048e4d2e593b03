import type { WorkflowRecord } from '../../../projections/workflows/workflows.queries.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';
import type { Referred } from './workflow-references.js';

/** A workflow in the form that the editor loads. */
export const workflowRecord = (workflow: WorkflowRecord, graph: WorkflowGraph, referred: readonly Referred[]) => ({
  workflow: {
    id: workflow.id,
    name: workflow.name,
    description: workflow.description,
    version: workflow.version,
    created_at: workflow.createdAt.toISOString(),
    updated_at: workflow.updatedAt.toISOString(),
  },
  nodes: graph.nodes,
  edges: graph.edges,
  resource_sponsors: [],
  resource_states: referred.filter(({ isDefault }) => !isDefault).map(resourceState),
  ref_details: {
    tools: namedIn(referred, 'tool').map(({ id, name, displayName }) => ({ id, name, display_name: displayName })),
    sources: namedIn(referred, 'source').map(({ id, name }) => ({ id, name })),
  },
});

const namedIn = (referred: readonly Referred[], of: Referred['type']) =>
  referred.filter(({ type, name }) => type === of && name !== undefined);

const resourceState = ({ type, id, name, displayName, ownerCredentialWrites }: Referred) => ({
  key: `${type}:${id}`,
  type,
  id,
  name: name === undefined ? null : displayName,
  state: name === undefined ? 'stopped' : 'active',
  reason: name === undefined ? 'deleted' : null,
  sponsor: null,
  contact: null,
  connection: null,
  credential_mode: null,
  account: null,
  owner_credential_writes: ownerCredentialWrites,
  can_confirm: false,
  can_reconnect: false,
});
