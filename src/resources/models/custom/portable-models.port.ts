import type { CustomModelDefinition } from './custom-model.events.js';

/** A custom model as it may leave the service: without its key. */
export type PortableModel = Readonly<{
  display_name: string;
  upstream_model_id: string;
  base_url: string;
  capabilities: Readonly<Record<string, unknown>>;
}>;

/** Why a model that came in is not added, in words for its owner. */
export class ModelNotPortable extends Error {
  override readonly name = 'ModelNotPortable';
}

/** Brings custom models in. */
export abstract class PortableModels {
  /** Checks a model as one that its owner adds, and seals its key. Nothing else is stored. @throws ModelNotPortable */
  abstract prepare(ownerId: string, model: PortableModel, apiKey: string): Promise<CustomModelDefinition>;
  /** Forgets the key of a model that is not added after all. */
  abstract discard(ownerId: string, definition: CustomModelDefinition): Promise<void>;
}
