import { readFileSync } from 'node:fs';
import type { OutgoingHttp } from '../../platform/outgoing/outgoing-http.port.js';
import type { LanguageModels } from './model/language-model.port.js';
import type { ModelProvider } from './model/model-provider.js';
import { type ModelOverride, modelOverridesIn } from './model-overrides.js';
import { OfflineLanguageModel } from './offline/offline-language-model.js';
import { OpenAiModels } from './openai/openai-models.js';
import { type OnModelFailure, RegisteredLanguageModels } from './registered-language-models.js';

export type LanguageModelsOptions = Readonly<{
  openaiBaseUrl?: string | undefined;
  openaiApiKey?: string | undefined;
  /** If it is empty, all models that the endpoint serves are offered. */
  modelIds: readonly string[];
  defaultModelId?: string | undefined;
  embeddingsModel?: string | undefined;
  modelsFile?: string | undefined;
  modelFirstTokenTimeoutMs: number;
  modelTimeoutMs: number;
}>;

/** Opens the configured models: those of the endpoint, if one is configured, and always the offline model. */
export function openLanguageModels(options: LanguageModelsOptions, onFailure?: OnModelFailure): LanguageModels {
  const { openaiBaseUrl, openaiApiKey, modelIds, defaultModelId, modelsFile } = options;
  const remote = openaiBaseUrl !== undefined || openaiApiKey !== undefined;
  const offline = new OfflineLanguageModel();
  return new RegisteredLanguageModels({
    providers: remote ? [endpoint(options, onFailure), offline] : [offline],
    ...(modelIds.length > 0 && { modelIds }),
    ...(defaultModelId !== undefined && { defaultModelId }),
    ...(modelsFile !== undefined && { overrides: overridesIn(modelsFile) }),
    ...(onFailure && { onFailure }),
  });
}

/** Opens a user's endpoint, which is reached through the guard of outgoing requests and without redirects. */
export const openCustomEndpoint = (
  { modelFirstTokenTimeoutMs, modelTimeoutMs }: LanguageModelsOptions,
  { fetch }: OutgoingHttp,
  { baseUrl, apiKey }: Readonly<{ baseUrl: string; apiKey: string }>,
): ModelProvider => new OpenAiModels({ baseUrl, apiKey, fetch, firstTokenMs: modelFirstTokenTimeoutMs, totalMs: modelTimeoutMs });

const endpoint = (options: LanguageModelsOptions, onFailure?: OnModelFailure) =>
  new OpenAiModels({
    // Some endpoints have no list. It is needed only if the operator names no models.
    ...(options.modelIds.length === 0 && { onUnlisted: (failed) => onFailure?.('The list of models', failed) }),
    ...(options.openaiBaseUrl !== undefined && { baseUrl: options.openaiBaseUrl }),
    ...(options.openaiApiKey !== undefined && { apiKey: options.openaiApiKey }),
    ...(options.embeddingsModel !== undefined && { otherModelIds: [options.embeddingsModel] }),
    firstTokenMs: options.modelFirstTokenTimeoutMs,
    totalMs: options.modelTimeoutMs,
  });

/** The overrides in the operator's file. @throws Error that names the variable, the file and the faulty place */
export function overridesIn(file: string): Readonly<Record<string, ModelOverride>> {
  try {
    return modelOverridesIn(readFileSync(file, 'utf8'));
  } catch (error) {
    // The further lines of an error of YAML quote the file.
    throw new Error(`MODELS_FILE ${file}: ${(error as Error).message.split('\n', 1)[0]!}`, { cause: error });
  }
}
