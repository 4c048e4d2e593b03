import {
  LanguageModels,
  type ModelChunk,
  type ModelDescription,
  ModelFailed,
  type ModelRequest,
} from './model/language-model.port.js';
import type { ModelOverride } from './model-overrides.js';
import type { ModelProvider } from './model/model-provider.js';
import { modelFailed } from './openai/openai-failures.js';
import { remoteModel } from './openai/served-models.js';

/** Is told of failures of providers, and of what failed. */
export type OnModelFailure = (what: string, failed: ModelFailed) => void;

export type RegisteredLanguageModelsOptions = Readonly<{
  /** The first provider that lists a model serves it. The first provider also serves models that none lists. */
  providers: readonly ModelProvider[];
  /** The offered models. Default: all models that the first provider lists. */
  modelIds?: readonly string[];
  defaultModelId?: string;
  overrides?: Readonly<Record<string, ModelOverride>>;
  onFailure?: OnModelFailure;
}>;

/** The models that the operator offers, from all providers. */
export class RegisteredLanguageModels extends LanguageModels {
  constructor(private readonly options: RegisteredLanguageModelsOptions) {
    super();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const { modelId } = request;
    if (!(await this.has(modelId))) throw modelFailed('unknown-model');
    const { reasoningEffort, structuredOutput } = this.options.overrides?.[modelId] ?? {};
    const asked = {
      ...request,
      ...(reasoningEffort && { reasoningEffort }),
      ...(structuredOutput === false && { schemaInWords: true }),
    };
    const provider = await this.providerOf(modelId);
    try {
      yield* provider.stream(asked, signal);
    } catch (error) {
      if (error instanceof ModelFailed) this.options.onFailure?.(`The model ${modelId}`, error);
      throw error;
    }
  }

  async list(): Promise<readonly ModelDescription[]> {
    const { overrides = {} } = this.options;
    const listed = await Promise.all(this.options.providers.map((provider) => provider.list()));
    const ids = this.options.modelIds ?? listed[0]?.map(({ id }) => id) ?? [];
    const known = listed.flatMap((models) => models ?? []);
    return ids.map((id) => ({ ...(known.find((each) => each.id === id) ?? remoteModel(id)), ...overrides[id] }));
  }

  async defaultModelId(): Promise<string> {
    const { defaultModelId, modelIds } = this.options;
    const id = defaultModelId ?? modelIds?.[0] ?? (await this.list())[0]?.id;
    if (!id) throw modelFailed('unavailable');
    return id;
  }

  /** Accepts any id until the endpoint has listed its models once. */
  async has(id: string): Promise<boolean> {
    const { modelIds, providers } = this.options;
    if (modelIds) return modelIds.includes(id);
    const models = await providers[0]?.list();
    return models ? models.some((each) => each.id === id) : true;
  }

  private async providerOf(id: string): Promise<ModelProvider> {
    for (const provider of this.options.providers) {
      if ((await provider.list())?.some((each) => each.id === id)) return provider;
    }
    return this.options.providers[0]!;
  }
}
