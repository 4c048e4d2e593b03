import type { CustomModelDefinition } from './custom-model.events.js';

/** A custom model in an exported agent file, without its key. */
export type PortableModel = Readonly<{
  display_name: string;
  upstream_model_id: string;
  base_url: string;
  capabilities: Readonly<Record<string, unknown>>;
}>;

/** The reason why an import skips a model. The message is shown to the owner. */
export class ModelNotPortable extends Error {
  override readonly name = 'ModelNotPortable';
}

/** Adds the custom models of an imported agent file. */
export abstract class PortableModels {
  /** Checks a model by the same rules as one that its owner adds, and stores its key. Stores nothing else. @throws ModelNotPortable */
  abstract prepare(ownerId: string, model: PortableModel, apiKey: string): Promise<CustomModelDefinition>;
  /** Deletes the key of a model that is not added after all. */
  abstract discard(ownerId: string, definition: CustomModelDefinition): Promise<void>;
}
