import type { LanguageModels } from './language-model.port.js';

/** The models of the service's endpoint, asked with a key that somebody brings along. */
export abstract class ProviderModels {
  /** The key is used by what is returned, and kept nowhere. */
  abstract withKey(key: string): LanguageModels;
}
