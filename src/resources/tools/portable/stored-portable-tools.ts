import { Injectable } from '@nestjs/common';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import {
  CredentialsMissing,
  CredentialsUnreadable,
  CredentialVault,
} from '../../../platform/credentials/credential-vault.port.js';
import { AddressRefused, OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { ApiAction } from '../api/api-action.policy.js';
import { type FixedValue, fixedValues, isNeeded, portableActions, withFixedValues } from '../api/portable-api.policy.js';
import { DEFAULT_TOOLS } from '../defaults/default-tools.policy.js';
import { neededSecrets, OAUTH_GRANT } from '../mcp/mcp-config.policy.js';
import { chosenActions } from '../toolbox/action.policy.js';
import { checked } from '../toolbox/definition.policy.js';
import type { ToolDefinition } from '../toolbox/tool.events.js';
import { ToolKinds } from '../toolbox/tool-kinds.js';
import { ToolSetup } from '../toolbox/tool-setup.js';
import { portableChoices, portableConfig } from './portable-config.policy.js';
import { type PortableTool, PortableTools, type PreparedTool, ToolNotPortable } from './portable-tools.port.js';
import { isJsonObject, type JsonObject } from '../../json-object.policy.js';
import { cutText } from '../../../kernel/cut-text.js';

type Secrets = Readonly<Record<string, string>>;

const API_TOOL = 'api_tool';
const MCP_TOOL = 'mcp_tool';
/** The text for a refused address. */
const UNSAFE = 'has an unsafe URL; not created';

/** Exports and imports tools with the kinds of the service and the secrets of the vault. */
@Injectable()
export class StoredPortableTools extends PortableTools {
  constructor(
    private readonly kinds: ToolKinds,
    private readonly setup: ToolSetup,
    private readonly vault: CredentialVault,
    private readonly outgoing: OutgoingHttp,
  ) {
    super();
  }

  isOffered(type: string): boolean {
    return this.kinds.byName(type)?.internal === false;
  }

  isBuiltin(type: string): boolean {
    return DEFAULT_TOOLS.includes(type) && this.kinds.byName(type) !== undefined;
  }

  neededSecrets({ type, config, requires_secrets: named }: PortableTool): readonly string[] {
    if (type === API_TOOL) {
      const fixed = fixedValues(actionsIn(config))
        .filter(isNeeded)
        .map(({ secretName }) => secretName);
      return [...new Set([...(named ?? []), ...fixed])];
    }
    if (named) return named;
    if (type === MCP_TOOL) return neededSecrets(config);
    const fields = Object.entries(this.kinds.byName(type)?.configFields ?? {});
    return fields.filter(([, { secret, required }]) => secret && required).map(([name]) => name);
  }

  async exported(ownerId: string, definition: ToolDefinition): Promise<PortableTool> {
    const { name: type, customName: name, displayName, description, config, credentialsId } = definition;
    const kind = this.kinds.byName(type);
    const isApi = type === API_TOOL;
    return {
      type,
      name,
      display_name: displayName,
      description,
      config: isApi
        ? { actions: portableActions(actionsIn(config) as Readonly<Record<string, ApiAction>>) }
        : portableConfig(kind?.configFields ?? {}, config),
      actions: isApi ? [] : portableChoices(definition, kind?.actions ?? []),
      requires_secrets: await this.secretNames(ownerId, credentialsId),
    };
  }

  async prepare(ownerId: string, tool: PortableTool, secrets: Secrets, cause: Cause): Promise<PreparedTool> {
    if (!this.isOffered(tool.type)) throw new ToolNotPortable('is not available on this instance; skipped');
    const warnings: string[] = [];
    const config = tool.type === API_TOOL ? await this.apiConfig(tool, secrets, warnings) : this.config(tool, secrets, warnings);
    const { display_name: displayName, name: customName, description } = tool;
    const wish = { ...(displayName !== '' && { displayName }), customName, description, config, status: true };
    const definition = await this.setup
      .define(ownerId, this.setup.blank(tool.type), wish, cause, (wanted) => Promise.resolve(wanted))
      .catch((error: unknown) => {
        throw error instanceof Rejection ? new ToolNotPortable(whyNot(error)) : error;
      });
    try {
      return { definition: checked(withChoices(definition, tool, warnings), {}), warnings };
    } catch (error) {
      await this.discard(ownerId, definition);
      throw error instanceof Rejection ? new ToolNotPortable(whyNot(error)) : error;
    }
  }

  discard(ownerId: string, definition: ToolDefinition): Promise<void> {
    return this.setup.delete(ownerId, definition);
  }

  /** The settings that the kind declares, and the given secrets. Secrets in the file are ignored with a warning. */
  private config(
    { type, config, requires_secrets: named, ...tool }: PortableTool,
    secrets: Secrets,
    warnings: string[],
  ): JsonObject {
    const fields = this.kinds.byName(type)!.configFields;
    const missing = this.neededSecrets({ type, config, requires_secrets: named, ...tool }).filter((name) => !secrets[name]);
    if (missing.length > 0) throw new ToolNotPortable(`needs secret(s) [${missing.join(', ')}]; not created`);
    const isSecret = (name: string) => Object.hasOwn(fields, name) && fields[name]!.secret;
    for (const name of Object.keys(config)) {
      if (!Object.hasOwn(fields, name) || isSecret(name))
        warnings.push(`has a setting '${name}' that is not taken from files; ignored`);
    }
    const given = Object.entries(config).filter(([name]) => Object.hasOwn(fields, name) && !isSecret(name));
    return Object.fromEntries([...given, ...Object.entries(secrets).filter(([name]) => isSecret(name))]);
  }

  private async apiConfig({ config }: PortableTool, secrets: Secrets, warnings: string[]): Promise<JsonObject> {
    const actions = Object.entries(actionsIn(config));
    const reasons = await Promise.all(actions.map(([, action]) => this.problemOfUrl(action)));
    actions.forEach(([name], index) => {
      if (reasons[index] !== undefined) warnings.push(`action '${name}' ${reasons[index]}; dropped`);
    });
    const kept = Object.fromEntries(actions.filter((_, index) => reasons[index] === undefined));
    if (Object.keys(kept).length === 0) warnings.push('was created without any actions; add them before it is used');
    const filled = withFixedValues(kept, secrets);
    const missing = fixedValues(filled);
    if (missing.length > 0) warnings.push(missingValues(missing));
    return { actions: filled };
  }

  private async problemOfUrl(action: unknown): Promise<string | undefined> {
    const url = typeof action === 'object' && action !== null && 'url' in action ? action.url : undefined;
    if (typeof url !== 'string' || url.trim() === '') return 'has no URL';
    const origin = URL.parse(url)?.origin;
    try {
      await this.outgoing.check(origin ?? url);
      return undefined;
    } catch (error) {
      if (error instanceof AddressRefused) return 'has an unsafe URL';
      throw error;
    }
  }

  private async secretNames(ownerId: string, credentialsId: string | null): Promise<readonly string[]> {
    if (credentialsId === null) return [];
    const secrets = await this.vault.reveal(ownerId, credentialsId).catch((error: unknown) => {
      if (error instanceof CredentialsMissing || error instanceof CredentialsUnreadable) return {};
      throw error;
    });
    return Object.keys(secrets).filter((name) => name !== OAUTH_GRANT);
  }
}

function actionsIn({ actions }: JsonObject): JsonObject {
  return isJsonObject(actions) ? actions : {};
}

const missingValues = (missing: readonly FixedValue[]): string =>
  `fixed value(s) of ${missing.map(({ action, name }) => `'${action}.${name}'`).join(', ')} don't travel in the file; set them again`;

const REASON_CHARACTERS_MAX = 300;

function whyNot({ code, message, details }: Rejection): string {
  if (code === 'tool-server-refused') return UNSAFE;
  const errors = details?.['errors'];
  const reasons = typeof errors === 'object' && errors !== null ? Object.values(errors).join('; ') : message;
  return `cannot be set up: ${cutText(reasons, REASON_CHARACTERS_MAX)}; not created`;
}

/** Applies the owner's changes to the actions, and warns about actions and parameters that do not exist. */
function withChoices(definition: ToolDefinition, { type, actions: choices }: PortableTool, warnings: string[]): ToolDefinition {
  if (type === API_TOOL || choices.length === 0) return definition;
  const byName = new Map(definition.actions.map((action) => [action.name, action]));
  const kept = choices.flatMap((choice) => {
    const action = byName.get(choice.name);
    if (!action) {
      warnings.push(`action '${choice.name}' no longer exists; customization skipped`);
      return [];
    }
    const properties = Object.entries(choice.parameters ?? {}).filter(([name]) => {
      const isThere = Object.hasOwn(action.parameters.properties, name);
      if (!isThere) warnings.push(`action '${choice.name}' has no parameter '${name}'; customization skipped`);
      return isThere;
    });
    const unset = properties.filter(([, { filled_by_llm: filled, value }]) => filled === false && value === undefined);
    if (unset.length > 0) {
      warnings.push(
        `fixed value(s) of ${unset.map(([name]) => `'${choice.name}.${name}'`).join(', ')} don't travel in the file; set them again`,
      );
    }
    return [{ ...choice, parameters: { type: 'object' as const, properties: Object.fromEntries(properties) } }];
  });
  const actions = chosenActions(definition.name, definition.actions, kept, { texts: false });
  return { ...definition, actions };
}
