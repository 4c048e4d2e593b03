import { ANSWER_PATIENCE_MS, type Streams } from '../../../kernel/event-sourcing/streams.js';
import { isId } from '../../../kernel/ids.js';
import type { CustomModelQueries } from '../../../../projections/custom-models/custom-models.queries.js';
import {
  LanguageModels,
  type ModelChunk,
  type ModelDescription,
  ModelFailed,
  type ModelRequest,
} from '../model/language-model.port.js';
import type { CustomModelEndpoints } from './custom-model-endpoints.js';
import { type CustomModel, customModel } from './custom-model.decider.js';
import { type CustomModelDefinition, customModelStream } from './custom-model.events.js';
import { descriptionOf } from './custom-model.policy.js';

/**
 * The models of the service and, for each user, the user's custom models. Lists come from the read model. A request reads the
 * model's stream, so that no process uses a model after its owner disabled or deleted it.
 */
export class LanguageModelsWithCustom extends LanguageModels {
  constructor(
    private readonly builtIn: LanguageModels,
    private readonly custom: CustomModelQueries,
    private readonly streams: Streams,
    private readonly endpoints: CustomModelEndpoints,
  ) {
    super();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    const { modelId, ownerId } = request;
    const state = ownerId !== undefined && isId(modelId) ? await this.stateOf(modelId, ownerId) : undefined;
    if (!state?.definition) {
      yield* this.builtIn.stream(request, signal);
      return;
    }
    if (state.status === 'deleted') throw gone('was deleted');
    if (!state.definition.enabled) throw gone('is switched off');
    yield* this.ask(state.ownerId, state.definition, request, signal);
  }

  async list(ownerId?: string): Promise<readonly ModelDescription[]> {
    const [builtIn, own] = await Promise.all([this.builtIn.list(), ownerId === undefined ? [] : this.custom.ownedBy(ownerId)]);
    const offered = own.filter(({ definition }) => definition.enabled);
    return [...builtIn, ...offered.map(({ id, definition }) => descriptionOf(id, definition))];
  }

  defaultModelId(): Promise<string> {
    return this.builtIn.defaultModelId();
  }

  async has(id: string, ownerId?: string): Promise<boolean> {
    if (await this.own(id, ownerId)) return true;
    // `has` of the built-in models accepts any id until the endpoint has listed its models. It must not accept the id of a custom
    // model.
    return isId(id) ? (await this.builtIn.describe(id)) !== undefined : this.builtIn.has(id);
  }

  override async describe(id: string, ownerId?: string): Promise<ModelDescription | undefined> {
    return (await this.own(id, ownerId)) ?? this.builtIn.describe(id);
  }

  private async stateOf(modelId: string, ownerId: string): Promise<CustomModel | undefined> {
    const { state } = await this.streams.retryWhileUnavailable(ANSWER_PATIENCE_MS, () =>
      this.streams.fold(customModelStream(modelId), customModel),
    );
    return state.ownerId === ownerId ? state : undefined;
  }

  private async own(id: string, ownerId: string | undefined): Promise<ModelDescription | undefined> {
    if (ownerId === undefined || !isId(id)) return undefined;
    const found = await this.custom.byId(id);
    return found?.ownerId === ownerId && found.definition.enabled ? descriptionOf(id, found.definition) : undefined;
  }

  private async *ask(
    ownerId: string,
    definition: CustomModelDefinition,
    { ownerId: _, ...request }: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<ModelChunk> {
    const { upstreamModelId: modelId, capabilities } = definition;
    const endpoint = await this.endpoints.of(ownerId, definition);
    const asked = {
      ...request,
      modelId,
      ...(capabilities.reasoning_effort && { reasoningEffort: capabilities.reasoning_effort }),
      ...(capabilities.supports_structured_output === false && { schemaInWords: true }),
    };
    try {
      yield* endpoint.stream(asked, signal);
    } catch (error) {
      throw error instanceof ModelFailed && error.failure === 'not-authorised' ? keyRefused(error) : error;
    }
  }
}

const gone = (how: string) => new ModelFailed('unknown-model', `The custom model of this answer ${how}.`, false);

const keyRefused = (cause: ModelFailed) =>
  new ModelFailed('not-authorised', 'The endpoint of this custom model refused its API key.', false, { cause });
