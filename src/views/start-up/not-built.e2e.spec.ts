import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openWorld, replyOf, type World } from '../../../test/support/world.js';
import { NOT_BUILT } from './not-built.http.js';

let world: World;
beforeAll(async () => {
  world = await openWorld({});
});
afterAll(() => world.close());

describe('what is not built', () => {
  it('is this list, and nothing else', () => {
    expect(Object.keys(NOT_BUILT)).toEqual([
      'Pages of administrators',
      'Connectors, of which none is configured,',
      'Changes of the files of a source',
      'Wikis and graphs of sources',
      'Sources made of attachments',
      'Tools of speech',
    ]);
    expect(Object.values(NOT_BUILT).flat()).toHaveLength(31);
  });

  it.each(Object.values(NOT_BUILT).flat())('answers 501 at %s, whatever the method', async (path) => {
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
});
