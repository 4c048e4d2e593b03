import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { agentKeyHash, AGENT_KEY_CHARACTERS_MAX } from '../../resources/identity/agent-keys.policy.js';
import { AgentKeyDirectory } from '../../resources/identity/agent-key-directory.port.js';

const QUESTIONS = '/api/answer';

type Fields = Record<string, unknown>;

/** What a request of an older client is: `key` is the provider's; undefined: it asks an agent by its key, or somebody signed in without any. */
export type OlderRequest = Readonly<{ key: string | undefined }>;

/**
 * Tells the key of a provider of models from the key of an agent, before anybody looks for an agent by it, and takes it out of the
 * request: it is known here while the request lasts, and is in no event, no fingerprint and no log.
 */
@Injectable()
export class ProviderKeys {
  private readonly requests = new WeakMap<object, OlderRequest>();

  constructor(private readonly agentKeys: AgentKeyDirectory) {}

  /** A hook for requests whose body has been read. Without a user a key that is no agent's is refused as a wrong one, as ever. */
  async take(request: FastifyRequest, isSignedIn: boolean): Promise<void> {
    const { body } = request;
    if (request.routeOptions.url !== QUESTIONS || !isFields(body) || body['embeddings_key'] === undefined) return;
    const key = typeof body['api_key'] === 'string' ? body['api_key'].trim() : '';
    const isProvidersKey = isSignedIn && key !== '' && !(await this.isAgents(key));
    if (isProvidersKey) delete body['api_key'];
    delete body['embeddings_key'];
    this.requests.set(request, { key: isProvidersKey ? key : undefined });
  }

  /** Undefined: the request is not one of an older client. */
  of(request: object): OlderRequest | undefined {
    return this.requests.get(request);
  }

  private async isAgents(key: string): Promise<boolean> {
    return key.length <= AGENT_KEY_CHARACTERS_MAX && (await this.agentKeys.byHash(agentKeyHash(key))) !== undefined;
  }
}

const isFields = (body: unknown): body is Fields => typeof body === 'object' && body !== null && !Array.isArray(body);
