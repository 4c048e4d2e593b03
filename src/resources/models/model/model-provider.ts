import type { ModelChunk, ModelDescription, ModelRequest } from './language-model.port.js';

/** A request with the settings that the operator or the owner made for its model. */
export type ProviderRequest = ModelRequest &
  Readonly<{
    reasoningEffort?: string;
    /** The model accepts no response schema, so the schema is added to the prompt. */
    schemaInWords?: boolean;
  }>;

/** A source of models: this process or an endpoint. */
export type ModelProvider = {
  stream(request: ProviderRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
  /** The models it serves, possibly from a cache; undefined if the provider has never answered. */
  list(): Promise<readonly ModelDescription[] | undefined>;
};
