import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openWorld, replyOf, type World } from '../../../test/support/world.js';
import { NOT_BUILT, NOT_BUILT_FOR_ANYBODY } from './not-built.http.js';

let world: World;
beforeAll(async () => {
  world = await openWorld({});
});
afterAll(() => world.close());

describe('the routes that are not built', () => {
  it('are exactly those of this list', () => {
    expect(Object.keys(NOT_BUILT)).toEqual([
      'Pages of administrators',
      'Connectors, of which none is configured,',
      'Wikis and graphs of sources',
      'Sources made of attachments',
    ]);
    expect(Object.values(NOT_BUILT).flat()).toHaveLength(28);
    expect(Object.entries(NOT_BUILT_FOR_ANYBODY)).toEqual([
      ['Triggers from outside', ['triggers/:token']],
      ['Approvals by a link', ['approvals/:token']],
    ]);
  });

  it.each(Object.values(NOT_BUILT).flat())('answer 501 at %s to any method', async (path) => {
    const url = `/api/${path.replaceAll(/:\w+/g, '00000000-0000-4000-8000-000000000000')}`;
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, body } = await replyOf(world.alice.request(url, { method }));
      expect([method, status, body]).toEqual([
        method,
        501,
        { success: false, message: expect.stringMatching(/not part of this service$/), error: 'not_built' },
      ]);
    }
    expect((await world.nobody.get(url)).status).toBe(401);
  });

  it.each(Object.values(NOT_BUILT_FOR_ANYBODY).flat())('answer 501 at %s without a signed-in user', async (path) => {
    for (const method of ['GET', 'POST']) {
      const { status, body } = await replyOf(world.nobody.request(`/api/${path.replace(':token', 'secret')}`, { method }));
      expect([status, body]).toMatchObject([501, { error: 'not_built' }]);
    }
  });
});
