import { setTimeout as pause } from 'node:timers/promises';
import type OpenAI from 'openai';
import type { ModelChunk, ModelDescription, ModelFailed } from '../model/language-model.port.js';
import { CompletionReader } from './completion-reader.js';
import type { ModelProvider, ProviderRequest } from '../model/model-provider.js';
import { openAiClient, type OpenAiEndpoint } from './openai-client.js';
import { failureOf, modelFailed, retryAfterMs } from './openai-failures.js';
import { dislikeIn, type Dislike, isAboutThisSchema, paramsOf } from './openai-request.js';
import { framesOf } from './response-frames.js';
import { ServedModels } from './served-models.js';
import { Stopwatch, type StopwatchLimits } from './stopwatch.js';

export type OpenAiModelsOptions = OpenAiEndpoint &
  Partial<StopwatchLimits> &
  Readonly<{
    /** Maximum number of attempts while no chunk of the answer has arrived. */
    attemptsMax?: number;
    retryDelayMs?: number;
    /** Models of the endpoint that are not chat models. */
    otherModelIds?: readonly string[];
    /** Is told why the endpoint did not list its models. */
    onUnlisted?: (failed: ModelFailed) => void;
  }>;

const LIMITS: StopwatchLimits = { firstTokenMs: 60_000, idleMs: 60_000, totalMs: 600_000 };
const ATTEMPTS_MAX = 3;
const RETRY_DELAY_MS = 250;

/** The models of an endpoint that implements OpenAI's chat completions. */
export class OpenAiModels implements ModelProvider {
  private readonly client: OpenAI;
  private readonly served: ServedModels;
  private readonly dislikes = new Map<string, Set<Dislike>>();

  constructor(private readonly options: OpenAiModelsOptions) {
    this.client = openAiClient(options);
    this.served = new ServedModels(this.client, options.otherModelIds ?? [], options.onUnlisted);
  }

  list(): Promise<readonly ModelDescription[] | undefined> {
    return this.served.list();
  }

  /** Retries temporary failures until the first chunk has arrived. Afterwards a retry would show the reader a second beginning. */
  async *stream(request: ProviderRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const { attemptsMax = ATTEMPTS_MAX, retryDelayMs = RETRY_DELAY_MS } = this.options;
    let asked = request;
    for (let attempt = 1; !signal.aborted;) {
      let begun = false;
      try {
        for await (const chunk of this.attempt(asked, signal)) {
          begun = true;
          yield chunk;
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!asked.schemaInWords && isAboutThisSchema(error) && dislikeIn(error) === 'response-schema') {
          asked = { ...asked, schemaInWords: true };
          continue;
        }
        if (!begun && this.learn(request.modelId, error)) continue;
        const failed = failureOf(error);
        if (begun || !failed.retriable || attempt >= attemptsMax) throw failed;
        await pause(retryAfterMs(failed) ?? retryDelayMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => undefined);
        attempt++;
      }
    }
  }

  private async *attempt(request: ProviderRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const { firstTokenMs = LIMITS.firstTokenMs, idleMs = LIMITS.idleMs, totalMs = LIMITS.totalMs } = this.options;
    const stopwatch = new Stopwatch({ firstTokenMs, idleMs, totalMs }, signal);
    const completion = new CompletionReader();
    let whole = false;
    try {
      const params = paramsOf(request, this.dislikesOf(request.modelId));
      const response = await this.client.chat.completions.create(params, { signal: stopwatch.signal }).asResponse();
      for await (const frame of framesOf(response)) {
        const { deltas } = completion;
        const chunks = completion.read(frame);
        if (completion.deltas > deltas) stopwatch.heard();
        for (const chunk of chunks) {
          stopwatch.rest();
          yield chunk;
          stopwatch.resume();
        }
        if (frame === '[DONE]') break;
      }
      const last = completion.end();
      whole = true;
      yield* last;
    } catch (error) {
      // An answer with a finish reason is complete, however its connection ends. At most its usage is missing.
      if (completion.isFinished && !signal.aborted) return yield* completion.end();
      throw stopwatch.expired
        ? modelFailed('timed-out', new Error(`Over the limit of ${stopwatch.expired}.`, { cause: error }))
        : error;
    } finally {
      if (whole) stopwatch.settle();
      else stopwatch.close();
    }
  }

  private dislikesOf(modelId: string): Set<Dislike> {
    let dislikes = this.dislikes.get(modelId);
    if (!dislikes) this.dislikes.set(modelId, (dislikes = new Set()));
    return dislikes;
  }

  /** Records a request feature that the endpoint refused, so that later requests omit it. Returns whether it is a new one. */
  private learn(modelId: string, error: unknown): boolean {
    const dislike = dislikeIn(error);
    const dislikes = this.dislikesOf(modelId);
    if (!dislike || dislikes.has(dislike)) return false;
    dislikes.add(dislike);
    return true;
  }
}
