import { beforeEach, describe, expect, it } from '@jest/globals';
import type { CustomModelQueries, CustomModelRecord } from '../../../../projections/custom-models/custom-models.queries.js';
import { failNextReads } from '../../../../test/support/away-store.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { MemoryCredentialVault } from '../../../../test/support/memory-credential-vault.js';
import { PlainOutgoingHttp } from '../../../../test/support/plain-outgoing-http.js';
import { MODEL, ScriptedModels, text } from '../../../../test/support/tool-turns.js';
import { cause } from '../../../../test/support/turns.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { newId } from '../../../kernel/ids.js';
import type { ModelProvider, ProviderRequest } from '../model/model-provider.js';
import { modelFailed } from '../openai/openai-failures.js';
import { CustomModelEndpoints } from './custom-model-endpoints.js';
import {
  ChangeCustomModel,
  ChangeCustomModelHandler,
  CreateCustomModel,
  CreateCustomModelHandler,
  DeleteCustomModel,
  DeleteCustomModelHandler,
} from './custom-model.commands.js';
import { customModel } from './custom-model.decider.js';
import { customModelStream } from './custom-model.events.js';
import { LanguageModelsWithCustom } from './language-models-with-custom.js';
import { StoredModelKeys } from './stored-model-keys.js';

const WISH = {
  displayName: 'Cellar',
  description: '',
  upstreamModelId: 'llama',
  baseUrl: 'https://models.example/v1',
  apiKey: 'secret-key',
  capabilities: { supports_structured_output: false, reasoning_effort: 'low', attachments: ['pdf', 'image/png'] },
  enabled: true,
};

let streams: Streams;
let vault: MemoryCredentialVault;
let models: LanguageModelsWithCustom;
let asked: ProviderRequest[];
let opened: object[];
let script: () => AsyncGenerator<ReturnType<typeof text>>;
const outgoing = new PlainOutgoingHttp();

beforeEach(() => {
  streams = new Streams(new InMemoryEventStore(), new VirtualTiming());
  vault = new MemoryCredentialVault();
  [asked, opened] = [[], []];
  script = async function* () {
    yield text('From the cellar.');
  };
  const provider: ModelProvider = {
    list: async () => [],
    stream: (request) => {
      asked.push(request);
      return script();
    },
  };
  const endpoints = new CustomModelEndpoints(new StoredModelKeys(vault), (endpoint) => {
    opened.push(endpoint);
    return provider;
  });
  models = new LanguageModelsWithCustom(new ScriptedModels(() => [text('Built in.')]), queriesOver(streams), streams, endpoints);
});

/** Reads the streams, like a read model that is always up to date. */
function queriesOver(log: Streams): CustomModelQueries {
  const byId = async (id: string): Promise<CustomModelRecord | undefined> => {
    const { state } = await log.fold(customModelStream(id), customModel);
    if (state.status !== 'there' || !state.definition) return undefined;
    return { id, ownerId: state.ownerId, definition: state.definition, createdAt: new Date(0), updatedAt: new Date(0) };
  };
  const ownedBy = async () => [];
  return { byId, ownedBy } as unknown as CustomModelQueries;
}

const add = async (wish: Partial<typeof WISH> = {}, modelId = newId()) => {
  const handler = new CreateCustomModelHandler(streams, vault, outgoing);
  await handler.execute(new CreateCustomModel(modelId, 'ann', { ...WISH, ...wish }, cause));
  return modelId;
};
const change = (modelId: string, changes: Partial<typeof WISH>) =>
  new ChangeCustomModelHandler(streams, vault, outgoing).execute(new ChangeCustomModel(modelId, 'ann', changes, cause));
const remove = (modelId: string) => new DeleteCustomModelHandler(streams).execute(new DeleteCustomModel(modelId, 'ann', cause));
const REQUEST = { messages: [], question: 'Why?', documents: [] };
const answer = async (modelId: string, ownerId?: string) => {
  let words = '';
  const request = { ...REQUEST, modelId, ...(ownerId !== undefined && { ownerId }) };
  for await (const chunk of models.stream(request, new AbortController().signal)) if (chunk.type === 'text') words += chunk.text;
  return words;
};

describe('the custom models of a user', () => {
  it('are requested under the endpoint’s name, with the capabilities that the owner stated', async () => {
    const id = await add();
    expect(await answer(id, 'ann')).toBe('From the cellar.');
    expect(asked).toEqual([{ ...REQUEST, modelId: 'llama', reasoningEffort: 'low', schemaInWords: true }]);
    expect(opened).toEqual([{ baseUrl: WISH.baseUrl, apiKey: 'secret-key' }]);
    expect(await models.describe(id, 'ann')).toMatchObject({
      ...{ displayName: 'Cellar', tools: true, structuredOutput: false, contextWindow: 128_000, isCustom: true },
      attachmentTypes: ['application/pdf', 'image/png'],
    });
  });

  it('are requested once the event store is back, because a round of an answer may begin while it is away', async () => {
    const id = await add();
    failNextReads(streams.store, 3);
    expect(await answer(id, 'ann')).toBe('From the cellar.');
  });

  it('are not available to other users', async () => {
    const id = await add();
    for (const other of ['bob', undefined]) {
      expect(await models.has(id, other)).toBe(false);
      expect(await models.describe(id, other)).toBeUndefined();
      // The request falls through to the built-in models. The scripted one answers for any id.
      expect(await answer(id, other)).toBe('Built in.');
    }
    expect(asked).toEqual([]);
  });

  it('use one client per endpoint until their key or address changes', async () => {
    const id = await add();
    for (let time = 0; time < 3; time++) await answer(id, 'ann');
    expect(opened).toHaveLength(1);
    await change(id, { apiKey: 'next-key' });
    await answer(id, 'ann');
    await change(id, { baseUrl: 'https://models.example/v2' });
    await answer(id, 'ann');
    expect(opened).toEqual([
      { baseUrl: WISH.baseUrl, apiKey: 'secret-key' },
      { baseUrl: WISH.baseUrl, apiKey: 'next-key' },
      { baseUrl: 'https://models.example/v2', apiKey: 'next-key' },
    ]);
  });

  it('fail with the reason after they were disabled or deleted', async () => {
    const id = await add();
    await change(id, { enabled: false });
    await expect(answer(id, 'ann')).rejects.toMatchObject({
      failure: 'unknown-model',
      message: 'The custom model of this answer is switched off.',
    });
    expect(await models.has(id, 'ann')).toBe(false);
    await remove(id);
    await expect(answer(id, 'ann')).rejects.toMatchObject({ message: 'The custom model of this answer was deleted.' });
    expect(asked).toEqual([]);
  });

  it('fail with an authorisation error if the key cannot be read', async () => {
    const id = await add();
    vault.rows.clear();
    await expect(answer(id, 'ann')).rejects.toMatchObject({ failure: 'not-authorised', retriable: false });
  });

  it('fail with an error that names the endpoint if it refuses the key', async () => {
    const id = await add();
    script = () => {
      throw modelFailed('not-authorised');
    };
    await expect(answer(id, 'ann')).rejects.toThrow('The endpoint of this custom model refused its API key.');
  });
});

it('the models of the service still answer', async () => {
  expect([await answer(MODEL.id, 'ann'), await models.has(MODEL.id, 'ann'), await models.defaultModelId()]).toEqual([
    'Built in.',
    true,
    MODEL.id,
  ]);
});

describe('the keys of custom models', () => {
  it('are stored once if a command is repeated', async () => {
    const id = await add();
    await add({}, id);
    expect(vault.rows.size).toBe(1);
    expect(await answer(id, 'ann')).toBe('From the cellar.');
  });

  it('are deleted if the command is refused', async () => {
    const handler = new CreateCustomModelHandler(streams, vault, outgoing);
    const id = await add();
    await expect(handler.execute(new CreateCustomModel(id, 'bob', WISH, cause))).rejects.toMatchObject({
      code: 'custom-model-not-found',
    });
    await expect(add({ displayName: ' ' })).rejects.toMatchObject({ code: 'invalid-request' });
    expect(vault.rows.size).toBe(1);
  });
});
