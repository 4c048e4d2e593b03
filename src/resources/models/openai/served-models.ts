import type OpenAI from 'openai';
import type { ModelDescription, ModelFailed } from '../model/language-model.port.js';
import { failureOf } from './openai-failures.js';

const KEPT_MS = 300_000;
/** Delay before the next request after the endpoint failed to answer. */
const RETRY_MS = 5_000;
const TIMEOUT_MS = 5_000;
const CONTEXT_WINDOW_DEFAULT = 128_000;

/** Names of models that produce or read something other than text. Endpoints list them together with chat models. */
const NO_CHAT = /embed|rerank|whisper|transcribe|(^|[-/])tts|dall-e|moderation|image|audio|realtime|sora|clip/i;

type Listed = OpenAI.Models.Model & { context_length?: number; max_model_len?: number; context_window?: number };

/** Caches the list of models that an endpoint serves. While the endpoint is down, the last list stays valid. */
export class ServedModels {
  private known: readonly ModelDescription[] | undefined;
  private askAgainAt = 0;
  private asking: Promise<void> | undefined;

  constructor(
    private readonly client: OpenAI,
    private readonly otherModelIds: readonly string[],
    private readonly onUnlisted: (failed: ModelFailed) => void = () => undefined,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Waits for the endpoint only if no list is cached. */
  async list(): Promise<readonly ModelDescription[] | undefined> {
    if (this.now() >= this.askAgainAt) this.asking ??= this.ask().finally(() => (this.asking = undefined));
    if (!this.known) await this.asking;
    return this.known;
  }

  private async ask(): Promise<void> {
    try {
      const { data } = await this.client.models.list({ timeout: TIMEOUT_MS });
      const others = new Set(this.otherModelIds);
      const listed = data.filter(({ id }) => !others.has(id));
      const chat = listed.filter(({ id }) => !NO_CHAT.test(id));
      this.known = (chat.length > 0 ? chat : listed).map((model) => this.describe(model));
      this.askAgainAt = this.now() + KEPT_MS;
    } catch (error) {
      // Callers get the cached list, or undefined if there is none.
      this.onUnlisted(failureOf(error));
      this.askAgainAt = this.now() + RETRY_MS;
    }
  }

  private describe(model: Listed): ModelDescription {
    const window = [model.context_length, model.max_model_len, model.context_window].find(
      (each) => typeof each === 'number' && each > 0,
    );
    return remoteModel(model.id, window, this.client.baseURL);
  }
}

/** A model described by its id alone, because endpoints report little more. MODELS_FILE can override the rest. */
export const remoteModel = (id: string, contextWindow = CONTEXT_WINDOW_DEFAULT, baseUrl?: string): ModelDescription => ({
  id,
  provider: 'openai_compatible',
  displayName: id,
  description: '',
  attachmentTypes: [],
  tools: true,
  structuredOutput: true,
  streaming: true,
  contextWindow,
  reasoningEffort: null,
  ...(baseUrl !== undefined && { baseUrl }),
});
