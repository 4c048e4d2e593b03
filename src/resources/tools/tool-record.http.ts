import type { ToolRecord } from '../../../projections/tools/tools.queries.js';
import { accessOf, ownerCredentialWrites } from './toolbox/access.policy.js';
import { defaultToolId } from './defaults/default-tools.policy.js';
import type { Access, ActionDefinition, ToolDefinition } from './toolbox/tool.events.js';
import type { ConfigField, ToolKind } from './toolbox/tool-kind.port.js';

/** A kind of tool as it is offered to be set up. */
export const offeredKind = ({ name, displayName, description, configFields, actions }: ToolKind) => ({
  name,
  displayName,
  description,
  configRequirements: configFields,
  actions: actions.map((action) => withAccess(name, action)),
});

/** A user's own tool as the listing shows it: of its secrets only that there are any. */
export const toolRecord = (
  { id, ownerId, definition, createdAt, updatedAt }: ToolRecord,
  configRequirements: Readonly<Record<string, ConfigField>>,
) => ({
  id,
  ...shown(definition),
  configRequirements,
  user: ownerId,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
  ...OWN,
});

/** A tool that everybody has, as one user has it. */
export const defaultToolRecord = (
  userId: string,
  { name, displayName, description, actions, configFields }: ToolKind,
  on: boolean,
) => ({
  id: defaultToolId(name),
  ...shown({ name, displayName, customName: '', description, config: {}, credentialsId: null, actions, status: on }),
  configRequirements: configFields,
  user: userId,
  created_at: null,
  updated_at: null,
  ...OWN,
  default: true,
});

const OWN = { ownership: 'user', team_access: null, connection_id: null } as const;

const shownConfig = ({ config, credentialsId }: ToolDefinition): Readonly<Record<string, unknown>> =>
  credentialsId === null ? config : { ...config, has_encrypted_credentials: true };

const shown = (definition: ToolDefinition) => ({
  name: definition.name,
  displayName: definition.displayName,
  customName: definition.customName,
  description: definition.description,
  config: shownConfig(definition),
  actions: definition.actions.map((action) => withAccess(definition.name, action)),
  status: definition.status,
  owner_credential_writes: ownerCredentialWrites(definition),
});

/** An action has fields of its kind as well, such as the `method` of a request. */
const withAccess = (kind: string, action: ActionDefinition): ActionDefinition & Readonly<{ access: Access }> => ({
  ...action,
  access: accessOf(kind, action),
});
