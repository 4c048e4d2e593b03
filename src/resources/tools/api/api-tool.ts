import { Injectable } from '@nestjs/common';
import { Rejection } from '../../../kernel/rejection.js';
import { AddressRefused, OutgoingFailed, OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import {
  type Background,
  type CallContext,
  type Configured,
  ToolFailed,
  ToolKind,
  type UsedTool,
} from '../toolbox/tool-kind.port.js';
import { type ApiAction, definitionOf } from './api-action.policy.js';
import { type ApiAnswer, apiAnswer } from './api-answer.policy.js';
import { apiActions } from './api-config.policy.js';
import { apiRequest } from './api-request.policy.js';
import { apartFromSecrets, type Secrets } from './api-secrets.policy.js';

export const API_CALL_MS = 60_000;
export const API_ANSWER_BYTES_MAX = 1024 * 1024;

/** Sends requests to an API that the owner describes; each action is one request. */
@Injectable()
export class ApiTool extends ToolKind {
  readonly name = 'api_tool';
  readonly displayName = 'API Tool';
  readonly description = 'Calls an HTTP API: each action is a request that you describe.';
  readonly configFields = {};
  readonly actions = [];

  constructor(private readonly http: OutgoingHttp) {
    super();
  }

  override async configure(config: Readonly<Record<string, unknown>>, old: Secrets): Promise<Configured> {
    const { actions, secrets } = apartFromSecrets(apiActions(config), old);
    await this.checkServers(actions);
    return {
      config: { actions: Object.fromEntries(actions.map((action) => [action.name, action])) },
      secrets,
      actions: actions.map(definitionOf),
    };
  }

  async run(
    { name }: ActionDefinition,
    args: Readonly<Record<string, unknown>>,
    { definition, secrets }: UsedTool,
    { signal, background }: CallContext,
  ): Promise<ApiAnswer> {
    const actions = definition.config['actions'] as Readonly<Record<string, ApiAction>> | undefined;
    const action = actions && Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) throw new ToolFailed(`There is no action ${name}.`);
    const { url, method, headers, body } = apiRequest(action, args, secrets);
    const patience = patienceWith(background);
    try {
      const response = await this.http.request(url, {
        method,
        headers,
        ...(body !== undefined && { body }),
        timeoutMs: background?.msMax ?? API_CALL_MS,
        responseBytesMax: API_ANSWER_BYTES_MAX,
        signal: AbortSignal.any([signal, patience.over]),
      });
      return apiAnswer(response, secrets);
    } catch (error) {
      if (patience.over.aborted)
        throw new ToolFailed(`${new URL(url).hostname} did not answer within ${API_CALL_MS / 1000} seconds.`);
      if (error instanceof AddressRefused || error instanceof OutgoingFailed)
        throw new ToolFailed(error.message, { cause: error });
      throw error;
    } finally {
      patience.end();
    }
  }

  private async checkServers(actions: readonly ApiAction[]): Promise<void> {
    const byOrigin = new Map(actions.map((action) => [new URL(action.url).origin, action.name]));
    await Promise.all(
      [...byOrigin].map(([origin, name]) =>
        this.http.check(origin).catch((error: unknown) => {
          if (!(error instanceof AddressRefused)) throw error;
          throw new Rejection('tool-invalid', `${name}: ${error.message}`);
        }),
      ),
    );
  }
}

/** The time limit of a call that may continue in the background. It ends when the call continues there. */
function patienceWith(background: Background | undefined): Readonly<{ over: AbortSignal; end: () => void }> {
  const over = new AbortController();
  if (!background) return { over: over.signal, end: () => undefined };
  const timer = setTimeout(() => over.abort(), API_CALL_MS);
  const end = () => clearTimeout(timer);
  background.begun.addEventListener('abort', end, { once: true });
  return { over: over.signal, end };
}
