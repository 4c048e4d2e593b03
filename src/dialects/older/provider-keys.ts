import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { agentKeyHash, AGENT_KEY_CHARACTERS_MAX } from '../../resources/identity/agent-keys.policy.js';
import { AgentKeyDirectory } from '../../resources/identity/agent-key-directory.port.js';

const QUESTIONS = '/api/answer';

type Fields = Record<string, unknown>;

/** A request of an older client. `key`: the key of the model provider. Undefined if the request has an agent's key or none. */
export type OlderRequest = Readonly<{ key: string | undefined }>;

/**
 * Recognizes the key of a model provider and removes it from the request, before other code looks for an agent with that key.
 * Only this class holds the key, and only during the request. It does not reach events, fingerprints or logs.
 */
@Injectable()
export class ProviderKeys {
  private readonly requests = new WeakMap<object, OlderRequest>();

  constructor(private readonly agentKeys: AgentKeyDirectory) {}

  /**
   * A hook for requests whose body is parsed. Without a signed-in user, a key that is not an agent's stays in the request and is
   * refused.
   */
  async take(request: FastifyRequest, isSignedIn: boolean): Promise<void> {
    const { body } = request;
    if (request.routeOptions.url !== QUESTIONS || !isFields(body) || body['embeddings_key'] === undefined) return;
    const key = typeof body['api_key'] === 'string' ? body['api_key'].trim() : '';
    const isProvidersKey = isSignedIn && key !== '' && !(await this.isAgents(key));
    if (isProvidersKey) delete body['api_key'];
    delete body['embeddings_key'];
    this.requests.set(request, { key: isProvidersKey ? key : undefined });
  }

  /** Undefined if the request is not from an older client. */
  of(request: object): OlderRequest | undefined {
    return this.requests.get(request);
  }

  private async isAgents(key: string): Promise<boolean> {
    return key.length <= AGENT_KEY_CHARACTERS_MAX && (await this.agentKeys.byHash(agentKeyHash(key))) !== undefined;
  }
}

const isFields = (body: unknown): body is Fields => typeof body === 'object' && body !== null && !Array.isArray(body);
