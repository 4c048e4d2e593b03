import { describe, expect, it } from '@jest/globals';
import { given } from '../../../../test/support/given.js';
import { create, expire, remove, responseNotFound, storedResponse } from './response.decider.js';
import type { ResponseCreated, ResponseEvent } from './response.events.js';
import { publicIdOf, responseIdIn, responseIdOf } from './response-ids.policy.js';

const turnId = '0b9d3f6e-21c4-4f0b-8a55-3c1f6f0d9e01';
const data = { responseId: turnId, turnId } as ResponseCreated['data'];
const created: ResponseEvent = { type: 'ResponseCreated', data };
const deleted: ResponseEvent = { type: 'ResponseDeleted', data: { responseId: turnId } };
const expired: ResponseEvent = { type: 'ResponseExpired', data: { responseId: turnId } };

describe('a response', () => {
  it('is created once', () => {
    given(storedResponse, []).when(create(data)).then([created]);
    given(storedResponse, [created]).when(create(data)).thenNothing();
  });

  it.each([[deleted], [expired]])('does not exist after %j', (gone) => {
    for (const decide of [create(data), remove(turnId)])
      expect(() => decide([created, gone].reduce(storedResponse.evolve, storedResponse.initial))).toThrow(
        responseNotFound().message,
      );
    given(storedResponse, [gone]).when(expire(turnId)).thenNothing();
  });

  it('can be deleted, and can expire', () => {
    given(storedResponse, [created]).when(remove(turnId)).then([deleted]);
    given(storedResponse, [created]).when(expire(turnId)).then([expired]);
    given(storedResponse, []).when(expire(turnId)).thenNothing();
  });

  it('has the id of its turn, and for a later run also the first frame', () => {
    for (const after of [-1, 0, 11])
      expect(responseIdIn(publicIdOf(responseIdOf({ turnId, after })))).toBe(responseIdOf({ turnId, after }));
    expect(publicIdOf(responseIdOf({ turnId, after: 11 }))).toBe(`resp_${turnId}-12`);
    for (const text of ['', 'resp_', turnId, `resp_${turnId}-`, `resp_${turnId}-x`, 'resp_../../etc'])
      expect(responseIdIn(text)).toBeUndefined();
  });
});
