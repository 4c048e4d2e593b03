import {
  LanguageModels,
  type ModelChunk,
  type ModelDescription,
  ModelFailed,
  type ModelRequest,
} from '../../models/language-model.port.js';
import type { ModelProvider } from './model-provider.js';
import { remoteModel } from './served-models.js';

/** What the operator says about a model, over what its provider says. */
export type ModelOverride = Partial<Omit<ModelDescription, 'id' | 'provider' | 'baseUrl'>>;

export type RegisteredLanguageModelsOptions = Readonly<{
  /** Asked in this order who serves an id. */
  providers: readonly ModelProvider[];
  /** The models offered; without it all that the first provider serves. */
  modelIds?: readonly string[];
  defaultModelId?: string;
  overrides?: Readonly<Record<string, ModelOverride>>;
}>;

/** The models the operator offers, whoever serves them. */
export class RegisteredLanguageModels extends LanguageModels {
  constructor(private readonly options: RegisteredLanguageModelsOptions) {
    super();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const provider = await this.providerOf(request.modelId);
    yield* provider.stream(request, signal);
  }

  async list(): Promise<readonly ModelDescription[]> {
    const served = (await this.served()).flatMap(({ models }) => models ?? []);
    const { modelIds, overrides = {} } = this.options;
    const first = await this.options.providers[0]?.list();
    const ids = modelIds ?? first?.map(({ id }) => id) ?? [];
    return ids.map((id) => ({ ...(served.find((each) => each.id === id) ?? remoteModel(id)), ...overrides[id] }));
  }

  async defaultModelId(): Promise<string> {
    const id = this.options.defaultModelId ?? this.options.modelIds?.[0] ?? (await this.list())[0]?.id;
    if (!id)
      throw new ModelFailed('unavailable', 'The language model cannot be reached right now. Please try again later.', true);
    return id;
  }

  /** While nobody can say what the endpoint serves, any id may be right. */
  async has(id: string): Promise<boolean> {
    if (this.options.modelIds) return this.options.modelIds.includes(id);
    const models = await this.options.providers[0]?.list();
    return models ? models.some((each) => each.id === id) : true;
  }

  private async providerOf(id: string): Promise<ModelProvider> {
    const served = await this.served();
    const known = served.find(({ models }) => models?.some((each) => each.id === id));
    const provider = known ?? served[0];
    if (!provider || !(await this.has(id))) throw new ModelFailed('unknown-model', `There is no model "${id}".`, false);
    return provider.provider;
  }

  private served() {
    return Promise.all(this.options.providers.map(async (provider) => ({ provider, models: await provider.list() })));
  }
}
