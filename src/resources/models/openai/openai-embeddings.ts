import type OpenAI from 'openai';
import { withSignals } from '../../../kernel/with-signals.js';
import { Embeddings } from '../model/embeddings.port.js';
import { openAiClient, type OpenAiEndpoint } from './openai-client.js';
import { failureOf, modelFailed } from './openai-failures.js';

/** Maximum number of texts per request. */
export const EMBEDDINGS_BATCH_MAX = 128;
const TIMEOUT_MS = 30_000;
const REPEATS_MAX = 2;

/** Embeddings of an endpoint that implements OpenAI's `/embeddings`. */
export class OpenAiEmbeddings extends Embeddings {
  readonly model: string;
  private readonly client: OpenAI;

  constructor({ model, ...endpoint }: OpenAiEndpoint & Readonly<{ model: string }>) {
    super();
    this.model = model;
    this.client = openAiClient(endpoint);
  }

  /** @throws ModelFailed */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly number[])[]> {
    const vectors: (readonly number[])[] = [];
    for (let from = 0; from < texts.length; from += EMBEDDINGS_BATCH_MAX) {
      vectors.push(...(await this.batch(texts.slice(from, from + EMBEDDINGS_BATCH_MAX), signal)));
    }
    return vectors;
  }

  private async batch(input: string[], signal: AbortSignal): Promise<readonly (readonly number[])[]> {
    const params = { model: this.model, input, encoding_format: 'float' as const };
    const limits = { timeout: TIMEOUT_MS, maxRetries: REPEATS_MAX };
    // The client leaves a listener in the signal of each request, and an ingestion makes thousands with one signal.
    const asked = withSignals([signal], (own) => this.client.embeddings.create(params, { ...limits, signal: own }));
    const reply = await asked.catch((error: unknown) => {
      throw failureOf(error);
    });
    const vectors = [...(reply.data ?? [])].sort((a, b) => a.index - b.index).map(({ embedding }) => embedding);
    if (vectors.length !== input.length || vectors.some((vector) => !isVector(vector, vectors[0]!.length))) {
      throw modelFailed(
        'bad-reply',
        new Error(`${vectors.length} vectors for ${input.length} texts, or vectors of different lengths.`),
      );
    }
    return vectors;
  }
}

const isVector = (value: unknown, length: number): boolean =>
  Array.isArray(value) && value.length === length && length > 0 && value.every(isFloat32);

/** Vectors are stored with 32 bits for each number. */
const isFloat32 = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(Math.fround(value));
