import { expect, it } from '@jest/globals';
import type { TeamQueries } from '../../../projections/teams/teams.queries.js';
import { reachedReadModels, received } from '../../../test/support/deletion-reactions.js';
import type { Commands } from '../../kernel/commands.js';
import type { EndGrantsOfThing } from '../identity/teams/team.commands.js';
import type { TeamGrantMade } from '../identity/teams/team.events.js';
import type { PromptDeleted } from '../prompts/prompt.events.js';
import { EndGrantsOfDeleted } from './end-grants-of-deleted.reaction.js';
import type { SharedThings } from './shared-things.js';

/** Of the prompts p1 and p2, only p2 exists. The team t1 holds two grants of p1. */
function reaction() {
  const ended: string[] = [];
  const { awaited, freshness } = reachedReadModels();
  const commands = {
    execute: async ({ teamId, thing: { family, resourceId } }: EndGrantsOfThing) => {
      ended.push(`${family} ${resourceId} in ${teamId}`);
    },
  };
  const teams = { sharesOf: async (_: string, id: string) => (id === 'p1' ? [{ teamId: 't1' }, { teamId: 't1' }] : []) };
  const things = { byId: async (_: string, id: string) => (id === 'p2' ? { id } : undefined) };
  const { on } = new EndGrantsOfDeleted(
    teams as unknown as TeamQueries,
    commands as unknown as Commands,
    freshness,
    things as unknown as SharedThings,
  );
  return { on, ended, awaited };
}

const granted = (resourceId: string) =>
  received<TeamGrantMade>({ teamId: 't2', grant: { id: 'g', family: 'prompts', resourceId } } as TeamGrantMade['data']);

it('the grants of a deleted resource end in each team', async () => {
  const { on, ended, awaited } = reaction();
  await on.PromptDeleted(received<PromptDeleted>({ promptId: 'p1' }));
  expect([ended, awaited]).toEqual([['prompts p1 in t1'], ['teams 7']]);
});

it('a grant that is made while its resource is being deleted ends', async () => {
  const { on, ended, awaited } = reaction();
  await on.TeamGrantMade(granted('p1'));
  expect([ended, awaited]).toEqual([['prompts p1 in t2'], ['prompts 7']]);
});

it('a grant of an existing resource is kept', async () => {
  const { on, ended } = reaction();
  await on.TeamGrantMade(granted('p2'));
  expect(ended).toEqual([]);
});
