import { LRUCache } from 'lru-cache';
import type { CustomModelDefinition } from './custom-model.events.js';
import type { ModelProvider } from '../model/model-provider.js';
import { ModelFailed } from '../model/language-model.port.js';
import type { StoredModelKeys } from './stored-model-keys.js';

const ENDPOINTS_MAX = 500;

/** Creates a client for an endpoint that sends requests through the guard of outgoing requests. */
export type OpenEndpoint = (endpoint: Readonly<{ baseUrl: string; apiKey: string }>) => ModelProvider;

/**
 * The clients for the endpoints of custom models. A client is cached by key and address together with what it has learned of its
 * endpoint.
 */
export class CustomModelEndpoints {
  private readonly opened = new LRUCache<string, ModelProvider>({ max: ENDPOINTS_MAX });

  constructor(
    private readonly keys: StoredModelKeys,
    private readonly open: OpenEndpoint,
  ) {}

  /** @throws ModelFailed if the API key is missing or unreadable */
  async of(ownerId: string, { baseUrl, credentialsId }: CustomModelDefinition): Promise<ModelProvider> {
    const name = `${credentialsId} ${baseUrl}`;
    const known = this.opened.get(name);
    if (known) return known;
    const apiKey = await this.keys.reveal(ownerId, credentialsId);
    if (apiKey === undefined) {
      throw new ModelFailed('not-authorised', 'The API key of this custom model cannot be read. Please enter it again.', false);
    }
    const endpoint = this.open({ baseUrl, apiKey });
    this.opened.set(name, endpoint);
    return endpoint;
  }
}
