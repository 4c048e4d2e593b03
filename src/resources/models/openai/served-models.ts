import type OpenAI from 'openai';
import type { ModelDescription } from '../model/language-model.port.js';

const KEPT_MS = 300_000;
/** After an endpoint did not answer, it is left alone for so long. */
const RETRY_MS = 5_000;
const TIMEOUT_MS = 5_000;
const CONTEXT_WINDOW_DEFAULT = 128_000;

/** Names of models that make or read something else than text. Endpoints list them among the others. */
const NO_CHAT = /embed|rerank|whisper|transcribe|(^|[-/])tts|dall-e|moderation|image|audio|realtime|sora|clip/i;

type Listed = OpenAI.Models.Model & { context_length?: number; max_model_len?: number; context_window?: number };

/** What an endpoint serves, asked now and then. While it is away, the last answer stands. */
export class ServedModels {
  private known: readonly ModelDescription[] | undefined;
  private askAgainAt = 0;
  private asking: Promise<void> | undefined;

  constructor(
    private readonly client: OpenAI,
    private readonly otherModelIds: readonly string[],
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Waits for the endpoint only as long as nothing is known. */
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
    } catch {
      // Callers learn that no models are known, or those that were.
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

/** A model as far as its name tells: endpoints say little more, so an operator may say it. */
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
