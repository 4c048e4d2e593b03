import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { customModelCodec } from './custom-model.codec.js';
import type { CustomModelDefinition, CustomModelEvent, CustomModelId } from './custom-model.events.js';

/** The state of a custom model. A deleted model keeps its definition. */
export type CustomModel = Readonly<{
  id: CustomModelId;
  status: 'none' | 'there' | 'deleted';
  ownerId: string;
  definition: CustomModelDefinition | null;
}>;

const initial: CustomModel = { id: '', status: 'none', ownerId: '', definition: null };

export const customModel: Aggregate<CustomModel, CustomModelEvent> = { initial, evolve, codec: customModelCodec };

function evolve(state: CustomModel, event: CustomModelEvent): CustomModel {
  switch (event.type) {
    case 'CustomModelCreated': {
      const { modelId, ownerId, definition } = event.data;
      return { id: modelId, status: 'there', ownerId, definition };
    }
    case 'CustomModelChanged':
      return { ...state, definition: state.definition && { ...state.definition, ...event.data.changes } };
    case 'CustomModelDeleted':
      return { ...state, status: 'deleted' };
  }
}

type Decide = Decision<CustomModel, CustomModelEvent>;

/** The same error whether the model does not exist or belongs to another user, so that callers cannot probe for ids. */
export const customModelNotFound = () => new Rejection('custom-model-not-found', 'Model not found');

/** The definition of a model that the user owns. @throws Rejection custom-model-not-found */
function definitionFor(state: CustomModel, ownerId: string): CustomModelDefinition {
  if (state.status !== 'there' || state.ownerId !== ownerId || !state.definition) throw customModelNotFound();
  return state.definition;
}

/** Creates nothing if the owner has this model already. @throws Rejection custom-model-not-found if the id belongs to another user or was deleted */
export const create =
  (modelId: CustomModelId, ownerId: string, definition: CustomModelDefinition, importId?: string): Decide =>
  (state) => {
    const data = { modelId, ownerId, definition, ...(importId !== undefined && { importId }) };
    if (state.status === 'none') return [{ type: 'CustomModelCreated', data }];
    definitionFor(state, ownerId);
    return [];
  };

export const change =
  (ownerId: string, wanted: Partial<CustomModelDefinition>): Decide =>
  (state) => {
    const current = definitionFor(state, ownerId);
    const changes = differing(current, wanted);
    if (Object.keys(changes).length === 0) return [];
    refuseKeyElsewhere(current, changes);
    return [{ type: 'CustomModelChanged', data: { modelId: state.id, changes } }];
  };

/** The wanted fields that differ from the current ones. */
function differing(current: CustomModelDefinition, wanted: Partial<CustomModelDefinition>): Partial<CustomModelDefinition> {
  const before: Readonly<Record<string, unknown>> = current;
  return Object.fromEntries(Object.entries(wanted).filter(([field, value]) => !same(before[field], value)));
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A key is sent only to the server it was given for. Otherwise another credential with write access could redirect the key. */
function refuseKeyElsewhere(current: CustomModelDefinition, { baseUrl, credentialsId }: Partial<CustomModelDefinition>): void {
  if (baseUrl === undefined || credentialsId !== undefined || originOf(baseUrl) === originOf(current.baseUrl)) return;
  throw new Rejection('invalid-request', 'A base_url on another server needs the api_key for it');
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);

export const remove =
  (ownerId: string): Decide =>
  (state) => {
    if (state.status === 'none' || state.ownerId !== ownerId) throw customModelNotFound();
    return state.status === 'deleted' ? [] : [{ type: 'CustomModelDeleted', data: { modelId: state.id } }];
  };
