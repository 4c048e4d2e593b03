import { describe, expect, it } from '@jest/globals';
import { type ModelChunk, type ModelDescription, ModelFailed } from './model/language-model.port.js';
import { modelOverridesIn } from './model-overrides.js';
import type { ModelProvider, ProviderRequest } from './model/model-provider.js';
import { openLanguageModels } from './open-language-models.js';
import { RegisteredLanguageModels, type RegisteredLanguageModelsOptions } from './registered-language-models.js';
import { remoteModel } from './openai/served-models.js';

/** A provider that lists the given models and answers every question with its name. */
class Named implements ModelProvider {
  readonly asked: ProviderRequest[] = [];
  constructor(
    private readonly name: string,
    public models: readonly ModelDescription[] | undefined,
  ) {}
  async list() {
    return this.models;
  }
  async *stream(request: ProviderRequest): AsyncGenerator<ModelChunk> {
    this.asked.push(request);
    yield { type: 'text', text: this.name };
  }
}

const request = (modelId: string) => ({ modelId, messages: [], question: '', documents: [] });
const never = new AbortController().signal;
const answerOf = async (models: RegisteredLanguageModels, id: string) => {
  const answers: ModelChunk[] = [];
  for await (const chunk of models.stream(request(id), never)) answers.push(chunk);
  return answers.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join('');
};

const endpoint = (...ids: string[]) =>
  new Named(
    'endpoint',
    ids.map((id) => remoteModel(id)),
  );
const offline = () => new Named('offline', [remoteModel('offline')]);
const register = (more: Partial<RegisteredLanguageModelsOptions>) =>
  new RegisteredLanguageModels({ providers: [endpoint('a', 'b'), offline()], ...more });

describe('the offered models', () => {
  it('report what their provider fails with, but not a model that is not offered', async () => {
    const failed = new ModelFailed('not-authorised', 'Refused.', false);
    const [provider, reported] = [endpoint('a'), [] as unknown[]];
    provider.stream = async function* () {
      throw failed;
    };
    const models = register({ providers: [provider], onFailure: (...report) => reported.push(report) });
    await expect(answerOf(models, 'a')).rejects.toBe(failed);
    await expect(answerOf(models, 'b')).rejects.toThrow(ModelFailed);
    expect(reported).toEqual([['The model a', failed]]);
  });

  it('are all that the endpoint lists, unless the operator names some', async () => {
    expect((await register({}).list()).map(({ id }) => id)).toEqual(['a', 'b']);
    expect((await register({ modelIds: ['b', 'offline', 'hidden'] }).list()).map(({ id }) => id)).toEqual([
      'b',
      'offline',
      'hidden',
    ]);
  });

  it('are requested from the provider that lists them, or from the endpoint if none does', async () => {
    const models = register({ modelIds: ['offline', 'hidden', 'a'] });
    expect([await answerOf(models, 'offline'), await answerOf(models, 'hidden'), await answerOf(models, 'a')]).toEqual([
      'offline',
      'endpoint',
      'endpoint',
    ]);
  });

  it('are the only ones that can be requested', async () => {
    const models = register({ modelIds: ['a'] });
    expect([await models.has('a'), await models.has('b')]).toEqual([true, false]);
    await expect(answerOf(models, 'b')).rejects.toMatchObject({ failure: 'unknown-model' });
  });

  it('have the configured default, or else the first model', async () => {
    expect(await register({}).defaultModelId()).toBe('a');
    expect(await register({ modelIds: ['b', 'a'] }).defaultModelId()).toBe('b');
    expect(await register({ modelIds: ['b', 'a'], defaultModelId: 'a' }).defaultModelId()).toBe('a');
  });

  it('accept any id until the endpoint has answered once', async () => {
    const models = register({ providers: [new Named('endpoint', undefined), offline()] });
    expect([await models.list(), await models.has('a'), await answerOf(models, 'a')]).toEqual([[], true, 'endpoint']);
    await expect(models.defaultModelId()).rejects.toMatchObject({ failure: 'unavailable', retriable: true });
  });

  it('are described as the operator’s file says', async () => {
    const served = endpoint('a');
    const overrides = modelOverridesIn(
      'models:\n  a:\n    display_name: Ada\n    context_window: 9000\n    supports_structured_output: false\n    reasoning_effort: low\n',
    );
    const models = register({ providers: [served], overrides });
    expect((await models.list())[0]).toMatchObject({ id: 'a', displayName: 'Ada', contextWindow: 9000, tools: true });
    await answerOf(models, 'a');
    expect(served.asked[0]).toMatchObject({ reasoningEffort: 'low', schemaInWords: true });
  });
});

describe('the operator’s file', () => {
  it.each([
    ['- a', 'a map named models'],
    ['models: {a: 1}', 'a map at models.a'],
    ['models: {a: {toString: 1}}', 'unknown field: models.a.toString'],
    ['models: {a: {context_window: -1}}', 'a whole number above 0 at models.a.context_window'],
    ['models: {a: {context_window: 1}, a: {}}', 'duplicated mapping key'],
  ])('is refused with the place of the error: %s', (yaml, problem) => expect(() => modelOverridesIn(yaml)).toThrow(problem));
});

describe('the configuration', () => {
  const limits = { modelFirstTokenTimeoutMs: 1000, modelTimeoutMs: 1000 };

  it('reports an endpoint that does not list its models, unless the operator names them', async () => {
    for (const modelIds of [[], ['a']]) {
      const reported: unknown[] = [];
      const options = { openaiBaseUrl: 'http://127.0.0.1:1/v1', modelIds, ...limits };
      await openLanguageModels(options, (...report) => reported.push(report)).list();
      const unlisted = ['The list of models', expect.objectContaining({ failure: 'unavailable' })];
      expect(reported).toEqual(modelIds.length === 0 ? [unlisted] : []);
    }
  });

  it('offers only the offline model if there is no endpoint', async () => {
    const models = openLanguageModels({ modelIds: ['offline'], ...limits });
    expect([(await models.list()).length, await models.defaultModelId()]).toEqual([1, 'offline']);
  });

  it('is refused with the name of the setting if the file cannot be read', () => {
    const open = () => openLanguageModels({ modelIds: [], modelsFile: '/nowhere.yaml', ...limits });
    expect(open).toThrow(/MODELS_FILE \/nowhere.yaml: ENOENT/);
  });
});
