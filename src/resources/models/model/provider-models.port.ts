import type { LanguageModels } from './language-model.port.js';

/** The models of the service's endpoint, used with a caller's key. */
export abstract class ProviderModels {
  /** The key is held by the returned object only and never stored. */
  abstract withKey(key: string): LanguageModels;
}
