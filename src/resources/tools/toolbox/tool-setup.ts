import { Injectable } from '@nestjs/common';
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

/** What an owner says of a tool. Whatever is left out stays as it is. */
export type ToolWish = Readonly<{
  displayName?: string | undefined;
  customName?: string | undefined;
  description?: string | undefined;
  status?: boolean | undefined;
  /** The whole configuration, secrets among it; a secret that is left out or empty stays as it is. */
  config?: ConfigGiven | undefined;
  /** What the owner decides about the actions that the tool has. */
  actions?: unknown;
  /** What comes to be known beside the configuration, such as tokens of a sign-in. */
  secrets?: Secrets | undefined;
}>;

type SetUp = Readonly<{ config: ToolDefinition['config']; secrets: Secrets; actions: readonly ActionDefinition[] }>;

/** Makes definitions of what owners say, and keeps their secrets apart from them. */
@Injectable()
export class ToolSetup {
  constructor(
    private readonly kinds: ToolKinds,
    private readonly vault: CredentialVault,
  ) {}

  /** What a new tool of a kind starts from. @throws Rejection tool-not-found */
  blank(name: string): ToolDefinition {
    const kind = this.kind(name);
    if (kind.internal) throw toolNotFound();
    const { displayName, description, actions } = kind;
    return { name, displayName, customName: '', description, config: {}, credentialsId: null, actions, status: true };
  }

  /**
   * The definition as its owner wants it, handed to the command that states it as an event. New secrets are kept before that, and
   * what they replace is forgotten after it: a crash in between leaves sealed secrets that nothing refers to, never a tool
   * without its own. `by`: who says it. @throws Rejection
   */
  async define<T>(
    ownerId: string,
    seen: ToolDefinition,
    wish: ToolWish,
    state: (wanted: ToolDefinition) => Promise<T>,
    by: 'owner' | 'editor' = 'owner',
  ): Promise<T> {
    const before = wish.config || wish.secrets ? await this.secretsOf(ownerId, seen.credentialsId) : {};
    const { secrets, ...setUp } = await this.setUp(ownerId, seen, wish, before);
    if (by === 'editor' && !sameJson(setUp.config, seen.config)) refuseKept(secrets, before, wish.config);
    const { displayName, customName, description, status } = wish;
    const texts = { displayName, customName, description, status };
    const wanted: ToolDefinition = {
      ...seen,
      ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)),
      ...setUp,
    };
    checked(wanted, secrets);
    if (!(wish.config || wish.secrets) || sameSecrets(secrets, before)) return state(wanted);
    const credentialsId = Object.keys(secrets).length > 0 ? await this.vault.keep(ownerId, secrets) : null;
    const stated = await state({ ...wanted, credentialsId }).catch(async (error: unknown) => {
      // Of what was refused nothing was stored; of anything else that is not known.
      if (credentialsId && error instanceof Rejection) await this.vault.delete(ownerId, credentialsId);
      throw error;
    });
    if (seen.credentialsId) await this.vault.delete(ownerId, seen.credentialsId);
    return stated;
  }

  /** The secrets of a tool that was deleted go with it. */
  async delete(ownerId: string, { credentialsId }: ToolDefinition): Promise<void> {
    if (credentialsId) await this.vault.delete(ownerId, credentialsId);
  }

  private async setUp(ownerId: string, seen: ToolDefinition, wish: ToolWish, before: Secrets): Promise<SetUp> {
    const { config, actions, secrets } = wish;
    if (!config && !secrets) return { config: seen.config, secrets: {}, actions: this.actions(seen, actions) };
    const kind = this.kind(seen.name);
    refuseLarge({ config, actions });
    const read = readConfig(kind.configFields, config ?? seen.config, new Set(Object.keys(before)));
    if (Object.keys(read.errors).length > 0) throw invalid(read.errors);
    refuseFunctionNames(read.config);
    const all = { ...before, ...read.secrets, ...secrets };
    const configured = await kind.configure(read.config, all, ownerId).catch((error: unknown) => {
      throw redactedError(error, redaction(all));
    });
    if (!configured.actions) {
      return { config: configured.config, secrets: configured.secrets, actions: this.actions(seen, actions) };
    }
    // Owners who define the actions themselves, in the configuration, say all that there is to say about them there.
    const ownWords = 'actions' in configured.config;
    const choices = actions === undefined ? seen.actions : readChoices(actions, [...configured.actions, ...seen.actions]);
    return {
      config: configured.config,
      secrets: configured.secrets,
      actions: ownWords ? configured.actions : chosenActions(seen.name, configured.actions, choices, { texts: false }),
    };
  }

  /** The actions that a tool has, as the owner wants them. One that is left out is switched off. */
  private actions({ name, actions, config }: ToolDefinition, given: unknown): readonly ActionDefinition[] {
    if (given === undefined) return actions;
    refuseLarge({ actions: given });
    const choices = readChoices(given, actions);
    if ('actions' in config) throw invalid({ actions: 'The actions of this tool are part of its configuration' });
    const wanted = new Set(choices.map((choice) => choice.name));
    const chosen = chosenActions(name, actions, choices, { texts: true });
    return chosen.map((action) => (wanted.has(action.name) ? action : { ...action, active: false }));
  }

  /** Those that are gone or unreadable are asked for anew. */
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
 * A configuration says where secrets are sent. With another one an editor would read what the owner has stored, so what goes with it is
 * the editor's own. @throws Rejection tool-invalid
 */
function refuseKept(secrets: Secrets, before: Secrets, given: ConfigGiven = {}): void {
  const kept = Object.keys(secrets).filter((name) => secrets[name] === before[name] && given[name] !== secrets[name]);
  if (kept.length > 0)
    throw invalid(Object.fromEntries(kept.map((name) => [name, 'Give it anew to change what it is sent with'])));
}

const sameSecrets = (a: Secrets, b: Secrets): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => b[name] === value);
