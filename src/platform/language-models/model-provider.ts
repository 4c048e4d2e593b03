import type { ModelChunk, ModelDescription, ModelRequest } from '../../models/language-model.port.js';

/** One place that serves models: this process itself, or an endpoint. */
export interface ModelProvider {
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk>;
  /** What it serves, as far as known; undefined while that has never been learned. */
  list(): Promise<readonly ModelDescription[] | undefined>;
}
