import { expect, it } from '@jest/globals';
import type { SignedInUser } from '../../identity/caller.js';
import { CustomModelsController } from './custom-models.http.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'c', causationId: 'c' } as const;
const ann: SignedInUser = { kind: 'user', userId: 'ann', roles: ['user'], credential: 'session-token', cause };

it('a user may have 200 custom models, and no more', async () => {
  const sent = new Error('The command was sent.');
  const create = (have: number) =>
    new CustomModelsController(
      { execute: () => Promise.reject(sent) } as never,
      { countOf: () => Promise.resolve(have) } as never,
      undefined as never,
      undefined as never,
    ).create(ann, undefined as never, {} as never);
  await expect(create(199)).rejects.toBe(sent);
  await expect(create(200)).rejects.toMatchObject({ code: 'too-many-custom-models' });
});
