import type { ModelChunk, ModelDescription, ModelRequest } from './language-model.port.js';

/** A request with what the operator says of its model. */
export type ProviderRequest = ModelRequest &
  Readonly<{
    reasoningEffort?: string;
    /** The model takes no response schema: it is told in words. */
    schemaInWords?: boolean;
  }>;

/** One place that serves models: this process itself, or an endpoint. */
export interface ModelProvider {
  stream(request: ProviderRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
  /** What it serves, as far as known; undefined while that has never been learned. */
  list(): Promise<readonly ModelDescription[] | undefined>;
}
