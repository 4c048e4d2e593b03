import { describe, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import { change, create, customModel, remove } from './custom-model.decider.js';
import type { CustomModelDefinition, CustomModelEvent } from './custom-model.events.js';

const DEFINITION: CustomModelDefinition = {
  displayName: 'Cellar',
  description: '',
  upstreamModelId: 'llama',
  baseUrl: 'https://models.example/v1',
  credentialsId: 'c1',
  capabilities: { supports_tools: true },
  enabled: true,
};
const created: CustomModelEvent = { type: 'CustomModelCreated', data: { modelId: 'm1', ownerId: 'ann', definition: DEFINITION } };
const deleted: CustomModelEvent = { type: 'CustomModelDeleted', data: { modelId: 'm1' } };
const changed = (changes: Partial<CustomModelDefinition>): CustomModelEvent => ({
  type: 'CustomModelChanged',
  data: { modelId: 'm1', changes },
});

describe('a custom model', () => {
  it('is created once per id', () => {
    given(customModel, [])
      .when(create('m1', 'ann', DEFINITION))
      .then([created]);
    given(customModel, [created])
      .when(create('m1', 'ann', { ...DEFINITION, credentialsId: 'c2' }))
      .thenNothing();
  });

  it('that an import creates names the import', () =>
    given(customModel, [])
      .when(create('m1', 'ann', DEFINITION, 'i1'))
      .then([{ type: 'CustomModelCreated', data: { modelId: 'm1', ownerId: 'ann', definition: DEFINITION, importId: 'i1' } }]));

  it('is not created under an id that another user has or that was deleted', () => {
    given(customModel, [created])
      .when(create('m1', 'bob', DEFINITION))
      .thenRejected('custom-model-not-found');
    given(customModel, [created, deleted])
      .when(create('m1', 'ann', DEFINITION))
      .thenRejected('custom-model-not-found');
  });

  it('records only the fields that changed', () => {
    given(customModel, [created])
      .when(change('ann', { ...DEFINITION, enabled: false }))
      .then([changed({ enabled: false })]);
    given(customModel, [created]).when(change('ann', DEFINITION)).thenNothing();
  });

  it('moves to another server only together with a new key', () => {
    const elsewhere = { baseUrl: 'https://other.example/v1' };
    given(customModel, [created]).when(change('ann', elsewhere)).thenRejected('invalid-request');
    given(customModel, [created])
      .when(change('ann', { ...elsewhere, credentialsId: 'c2' }))
      .then([changed({ ...elsewhere, credentialsId: 'c2' })]);
    const path = { baseUrl: 'https://models.example/v2' };
    given(customModel, [created])
      .when(change('ann', path))
      .then([changed(path)]);
  });

  it('is changed and deleted by its owner only, and deleted once', () => {
    given(customModel, [created])
      .when(change('bob', { enabled: false }))
      .thenRejected('custom-model-not-found');
    given(customModel, [created]).when(remove('bob')).thenRejected('custom-model-not-found');
    given(customModel, []).when(remove('ann')).thenRejected('custom-model-not-found');
    given(customModel, [created]).when(remove('ann')).then([deleted]);
    given(customModel, [created, deleted]).when(remove('ann')).thenNothing();
    given(customModel, [created, deleted])
      .when(change('ann', { enabled: false }))
      .thenRejected('custom-model-not-found');
  });
});
