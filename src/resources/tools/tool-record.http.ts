import type { ToolRecord } from '../../../projections/tools/tools.queries.js';
import { accessOf, ownerCredentialWrites } from './toolbox/access.policy.js';
import { defaultToolId } from './defaults/default-tools.policy.js';
import type { Access, ActionDefinition, ToolDefinition } from './toolbox/tool.events.js';
import type { ConfigField, ToolKind } from './toolbox/tool-kind.port.js';

/** A kind of tool as the list of available kinds shows it. */
export const offeredKind = ({ name, displayName, description, configFields, actions }: ToolKind) => ({
  name,
  displayName,
  description,
  configRequirements: configFields,
  actions: actions.map((action) => withAccess(name, action)),
});

/** A tool as the list of tools shows it to a user. Of its secrets it shows only that they exist. */
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

/** A default tool as the list of tools shows it to one user. */
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

/** Adds the access to an action. An action may also have fields of its kind, such as the `method` of a request. */
const withAccess = (kind: string, action: ActionDefinition): ActionDefinition & Readonly<{ access: Access }> => ({
  ...action,
  access: accessOf(kind, action),
});
