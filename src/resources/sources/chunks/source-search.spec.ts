import { expect, it } from '@jest/globals';
import type { KeptAgentQueries } from '../../../../projections/agents/kept-agents.queries.js';
import type { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import type { TeamQueries } from '../../../../projections/teams/teams.queries.js';
import { newId } from '../../../kernel/ids.js';
import type { SignedInUser } from '../../identity/caller.js';
import type { Grant } from '../../identity/grants.policy.js';
import { Reaching } from '../../identity/reaching.js';
import { DEFAULT_SOURCE_CONFIG } from '../source/source-config.policy.js';
import { SourceSearchController } from './source-search.http.js';

const id = newId();
const { retrieval } = DEFAULT_SOURCE_CONFIG;
const user = (userId: string) => ({ kind: 'user', userId, roles: ['user'] }) as unknown as SignedInUser;

function searching(grant: Grant) {
  const source = { id, ownerId: 'ann', config: DEFAULT_SOURCE_CONFIG };
  const search = { search: async () => ({ chunks: [], failedSources: [] }) };
  const teams = { heldBy: async () => new Map([[id, grant]]) };
  const reaching = new Reaching(teams as unknown as TeamQueries, {} as KeptAgentQueries);
  const sources = { byId: async () => source };
  const clock = { now: () => new Date() };
  return new SourceSearchController(search, sources as unknown as SourceQueries, clock, reaching);
}

it.each([
  ['its owner', 'ann', {}, retrieval],
  ['a viewer', 'bob', {}, retrieval],
  ['a viewer who may not see the config', 'bob', { viewers_can_see_config: false }, null],
])('a search of a source shows %s its settings', async (_, userId, switches, shown) => {
  const found = await searching({ level: 'viewer', switches }).search(user(userId), id, { query: 'Tea?' });
  expect([found.retrieval, found.retriever]).toEqual([shown, shown?.retriever ?? null]);
});

it('a search of a source shows a viewer the settings that the search was given', async () => {
  const controller = searching({ level: 'viewer', switches: { viewers_can_see_config: false } });
  const found = await controller.search(user('bob'), id, { query: 'Tea?', retrieval: { chunks: 3 } });
  expect(found.retrieval).toMatchObject({ chunks: 3 });
});
