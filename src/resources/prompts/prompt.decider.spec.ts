import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventsUnlessRejected, given } from '../../../test/support/given.js';
import { create, prompt, type Prompt, remove, update } from './prompt.decider.js';
import type { PromptEvent } from './prompt.events.js';

const promptId = 'p1';
const now = new Date('2026-01-01T00:00:00.000Z');
const created: PromptEvent = {
  type: 'PromptCreated',
  data: { promptId, ownerId: 'alice', name: 'Pirate', content: 'Arr.', createdAt: now.toISOString() },
};
const deleted: PromptEvent = { type: 'PromptDeleted', data: { promptId } };
const change = (more: object) => ({ name: 'Pirate', content: 'Arr.', now, ...more });

describe('a prompt', () => {
  it('is created once', () => {
    given(prompt, [])
      .when(create(promptId, 'alice', { name: 'Pirate', content: 'Arr.', now }))
      .then([created]);
    given(prompt, [created])
      .when(create(promptId, 'alice', { name: 'Other', content: 'x', now }))
      .thenNothing();
  });
  it('that an import creates names the import', () =>
    given(prompt, [])
      .when(create(promptId, 'alice', { name: 'Pirate', content: 'Arr.', importId: 'i1', now }))
      .then([{ ...created, data: { ...created.data, importId: 'i1' } }]));
  it('records only the changed fields, with a time after its last change', () =>
    given(prompt, [created])
      .when(update('alice', change({ content: 'Ahoy.' })))
      .then([{ type: 'PromptUpdated', data: { promptId, content: 'Ahoy.', updatedAt: '2026-01-01T00:00:00.001Z' } }]));
  it('is not changed by an update that is based on an old version', () =>
    given(prompt, [created])
      .when(update('alice', change({ content: 'Ahoy.', expectedUpdatedAt: new Date(0) })))
      .thenRejected('prompt-stale-write'));
  it.each([
    ['changed', update('bob', change({ name: 'Mine' }))],
    ['deleted', remove('bob')],
  ])('is not %s by another user, who gets "not found"', (_, decide) =>
    given(prompt, [created]).when(decide).thenRejected('prompt-not-found'),
  );
  it('is deleted once', () => {
    given(prompt, [created]).when(remove('alice')).then([deleted]);
    given(prompt, [created, deleted]).when(remove('alice')).thenNothing();
  });
  it('cannot be changed after it is deleted', () =>
    given(prompt, [created, deleted])
      .when(update('alice', change({ name: 'New' })))
      .thenRejected('prompt-not-found'));
});

it('any sequence of decisions is idempotent, and only the owner changes a prompt', () => {
  const someone = fc.constantFrom('alice', 'bob');
  const decision = fc.oneof(
    fc.tuple(someone, fc.string(), fc.string()).map(([user, name, content]) => update(user, { name, content, now })),
    someone.map(remove),
    fc.constant(create(promptId, 'bob', { name: 'Mine', content: '', now })),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 10 }), (decisions) => {
      let state = [created].reduce<Prompt>(prompt.evolve, prompt.initial);
      for (const decide of decisions) {
        const events = eventsUnlessRejected(decide, state);
        if (!events) continue;
        state = events.reduce<Prompt>(prompt.evolve, state);
        expect(decide(state)).toEqual([]);
        expect(state.ownerId).toBe('alice');
      }
    }),
    { numRuns: 300 },
  );
});
