import { Injectable } from '@nestjs/common';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import { chosenActions } from './action.policy.js';
import { type ConfigGiven, readConfig } from './config.policy.js';
import {
  CredentialsMissing,
  CredentialsUnreadable,
  CredentialVault,
} from '../../../platform/credentials/credential-vault.port.js';
import { checked, invalid, readChoices, refuseFunctionNames, refuseLarge } from './definition.policy.js';
import { sameJson } from '../../../kernel/same-json.js';
import { redactedError, redaction } from './redaction.policy.js';
import { toolNotFound } from './tool.decider.js';
import type { ActionDefinition, ToolDefinition } from './tool.events.js';
import type { ToolKind } from './tool-kind.port.js';
import { ToolKinds } from './tool-kinds.js';

type Secrets = Readonly<Record<string, string>>;

/** The changes that an owner wants to a tool. Fields that are missing or null stay unchanged. */
export type ToolWish = Readonly<{
  displayName?: string | null | undefined;
  customName?: string | null | undefined;
  description?: string | null | undefined;
  status?: boolean | null | undefined;
  /** The whole configuration including secrets. A secret that is missing or empty is kept. */
  config?: ConfigGiven | null | undefined;
  /** The owner's choices about the actions of the tool. */
  actions?: unknown;
  /** Secrets that do not come from the owner's configuration, such as the tokens of a sign-in. */
  secrets?: Secrets | undefined;
}>;

type SetUp = Readonly<{ config: ToolDefinition['config']; secrets: Secrets; actions: readonly ActionDefinition[] }>;

/** Makes definitions from the wishes of owners, and stores their secrets separately. */
@Injectable()
export class ToolSetup {
  constructor(
    private readonly kinds: ToolKinds,
    private readonly vault: CredentialVault,
  ) {}

  /** The initial definition of a tool of a kind. @throws Rejection invalid-request */
  blank(name: string): ToolDefinition {
    const kind = this.kinds.byName(name);
    if (!kind || kind.internal)
      throw new Rejection('invalid-request', `This service has no tools of the kind ${name.slice(0, 40)}.`);
    const { displayName, description, actions } = kind;
    return { name, displayName, customName: '', description, config: {}, credentialsId: null, actions, status: true };
  }

  /**
   * Passes the wanted definition to `state`, which appends it as an event. New secrets are stored before that, and replaced
   * secrets are deleted after it. A crash in between leaves encrypted secrets without a reference, never a tool without its
   * secrets. `by` is the user who wants the change. @throws Rejection
   */
  async define<T>(
    ownerId: string,
    seen: ToolDefinition,
    wish: ToolWish,
    cause: Cause,
    state: (wanted: ToolDefinition) => Promise<T>,
    by: 'owner' | 'editor' = 'owner',
  ): Promise<T> {
    const before = wish.config || wish.secrets ? await this.secretsOf(ownerId, seen.credentialsId) : {};
    const { secrets, ...setUp } = await this.setUp(ownerId, seen, wish, before, cause);
    if (by === 'editor' && !sameJson(setUp.config, seen.config)) refuseKept(secrets, before, wish.config ?? {});
    const { displayName, customName, description, status } = wish;
    const texts = { displayName, customName, description, status };
    const wanted: ToolDefinition = {
      ...seen,
      ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined && value !== null)),
      ...setUp,
    };
    checked(wanted, secrets);
    if (!(wish.config || wish.secrets) || sameSecrets(secrets, before)) return state(wanted);
    const credentialsId = Object.keys(secrets).length > 0 ? await this.vault.keep(ownerId, secrets) : null;
    const stated = await state({ ...wanted, credentialsId }).catch(async (error: unknown) => {
      // After a rejection no event refers to the new secrets. After any other error that is unknown.
      if (credentialsId && error instanceof Rejection) await this.vault.delete(ownerId, credentialsId);
      throw error;
    });
    if (seen.credentialsId) await this.vault.delete(ownerId, seen.credentialsId);
    return stated;
  }

  /** Deletes the secrets of a deleted tool. */
  async delete(ownerId: string, { credentialsId }: ToolDefinition): Promise<void> {
    if (credentialsId) await this.vault.delete(ownerId, credentialsId);
  }

  private async setUp(ownerId: string, seen: ToolDefinition, wish: ToolWish, before: Secrets, cause: Cause): Promise<SetUp> {
    const { config, secrets } = wish;
    const actions = wish.actions ?? undefined;
    if (!config && !secrets) return { config: seen.config, secrets: {}, actions: this.actions(seen, actions) };
    const kind = this.kind(seen.name);
    refuseLarge({ config, actions });
    const read = readConfig(kind.configFields, config ?? seen.config, new Set(Object.keys(before)));
    if (Object.keys(read.errors).length > 0) throw invalid(read.errors);
    refuseFunctionNames(read.config);
    const all = { ...before, ...read.secrets, ...secrets };
    const configured = await kind.configure(read.config, all, ownerId, cause).catch((error: unknown) => {
      throw redactedError(error, redaction(all));
    });
    if (!configured.actions) {
      return { config: configured.config, secrets: configured.secrets, actions: this.actions(seen, actions) };
    }
    // An owner who defines the actions in the configuration makes all choices about them there.
    const ownWords = 'actions' in configured.config;
    const choices = actions === undefined ? seen.actions : readChoices(actions, [...configured.actions, ...seen.actions]);
    return {
      config: configured.config,
      secrets: configured.secrets,
      actions: ownWords ? configured.actions : chosenActions(seen.name, configured.actions, choices, { texts: false }),
    };
  }

  /** The tool's actions with the owner's choices. An action that the list leaves out is switched off. */
  private actions({ name, actions, config }: ToolDefinition, given: unknown): readonly ActionDefinition[] {
    if (given === undefined) return actions;
    refuseLarge({ actions: given });
    const choices = readChoices(given, actions);
    if ('actions' in config) throw invalid({ actions: 'The actions of this tool are part of its configuration' });
    const wanted = new Set(choices.map((choice) => choice.name));
    const chosen = chosenActions(name, actions, choices, { texts: true });
    return chosen.map((action) => (wanted.has(action.name) ? action : { ...action, active: false }));
  }

  /** The stored secrets. Missing or unreadable ones count as not given, so the owner has to give them again. */
  private async secretsOf(ownerId: string, credentialsId: string | null): Promise<Secrets> {
    if (!credentialsId) return {};
    return this.vault.reveal(ownerId, credentialsId).catch((error: unknown) => {
      if (error instanceof CredentialsMissing || error instanceof CredentialsUnreadable) return {};
      throw error;
    });
  }

  private kind(name: string): ToolKind {
    const kind = this.kinds.byName(name);
    if (!kind) throw toolNotFound();
    return kind;
  }
}

/**
 * Refuses to keep stored secrets in a changed configuration. The configuration says where secrets are sent, so an editor could
 * send the owner's secrets to another server. The editor has to give their own. @throws Rejection tool-invalid
 */
function refuseKept(secrets: Secrets, before: Secrets, given: ConfigGiven): void {
  const kept = Object.keys(secrets).filter((name) => secrets[name] === before[name] && given[name] !== secrets[name]);
  if (kept.length > 0)
    throw invalid(Object.fromEntries(kept.map((name) => [name, 'Enter it again to change the configuration it is used with'])));
}

const sameSecrets = (a: Secrets, b: Secrets): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => b[name] === value);
