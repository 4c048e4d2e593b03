import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { resourceSettingsStream } from '../../src/resources/sharing/resource-settings.events.js';
import { type TeamEvent, type TeamGrant, teamStream } from '../../src/resources/identity/teams/team.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { teams } from './teams.projection.js';
import { TeamQueries } from './teams.queries.js';

const at = '2026-01-01T00:00:00.000Z';
const founded = (teamId: string): TeamEvent => ({
  type: 'TeamCreated',
  data: { teamId, name: `Team ${teamId}`, slug: teamId, description: '', ownerId: 'alice', createdAt: at },
});
const added = (teamId: string, userId: string): TeamEvent => ({
  type: 'TeamMemberAdded',
  data: { teamId, userId, role: 'team_member', addedBy: 'alice', addedAt: at },
});
const granted = (teamId: string, id: string, more: Partial<TeamGrant> = {}): TeamEvent => {
  const whole = { id, family: 'agents', resourceId: 'a1', ownerId: 'alice', level: 'viewer', targetUserId: null } as const;
  return { type: 'TeamGrantMade', data: { teamId, grant: { ...whole, grantedBy: 'alice', grantedAt: at, ...more } } };
};

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: TeamQueries;
const given = (teamId: string, ...events: TeamEvent[]) => model.given(teamStream(teamId), events);
const held = async (userId: string) =>
  [...(await queries.heldBy(userId, 'agents'))].map(([id, { level }]) => `${id} ${level}`).sort();

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(teams, database.sql);
  queries = new TeamQueries(new ReadModels(database.sql));
  await given('t1', founded('t1'), added('t1', 'bob'), added('t1', 'carol'));
  await given('t2', founded('t2'), added('t2', 'bob'));
});
afterAll(() => database.close());

it('all teams are listed oldest first, in pages also where several have the same time', async () => {
  const [first] = await queries.all('bob', { limit: 1 });
  expect([first!.id, first!.role]).toEqual(['t1', 'team_member']);
  const next = await queries.all('bob', { limit: 5, after: first!.createdAt, afterId: first!.id });
  expect(next.map(({ id }) => id)).toEqual(['t2']);
  expect(await queries.all('bob', { after: next[0]!.createdAt, afterId: 't2' })).toEqual([]);
  expect((await queries.all('mallory')).map(({ id, role }) => [id, role])).toEqual([
    ['t1', null],
    ['t2', null],
  ]);
});

it('members hold the widest grant of each resource that is shared with the team or with them alone', async () => {
  await given('t1', granted('t1', 'g1'), granted('t1', 'g2', { resourceId: 'a2', targetUserId: 'carol' }));
  await given('t2', granted('t2', 'g3', { level: 'editor' }));
  expect(await held('bob')).toEqual(['a1 editor']);
  expect(await held('carol')).toEqual(['a1 viewer', 'a2 viewer']);
  // An owner holds no grant of their own resource.
  expect(await held('alice')).toEqual([]);
  expect(await held('mallory')).toEqual([]);
});

it('a grant includes the switches of its resource', async () => {
  const switches = { editors_can_share: true };
  const data = { family: 'agents', resourceId: 'a1', switches, changedAt: at } as const;
  await model.given(resourceSettingsStream('agents', 'a1'), [{ type: 'ResourceSettingsChanged', data }]);
  expect((await queries.heldBy('bob', 'agents', ['a1'])).get('a1')).toEqual({ level: 'editor', switches });
  expect(await queries.switchesOf('agents', 'a1')).toEqual(switches);
});

it('a grant ends when it is revoked and when the membership or the team ends', async () => {
  const ended = { teamId: 't2', grantId: 'g3', family: 'agents', resourceId: 'a1', reason: 'revoked', endedAt: at } as const;
  await given('t2', { type: 'TeamGrantEnded', data: ended });
  expect(await held('bob')).toEqual(['a1 viewer']);
  await given('t1', { type: 'TeamMemberRemoved', data: { teamId: 't1', userId: 'bob', removedAt: at } });
  expect([await held('bob'), await held('carol')]).toEqual([[], ['a1 viewer', 'a2 viewer']]);
  await given('t2', { type: 'TeamDeleted', data: { teamId: 't2', deletedAt: at } });
  expect((await queries.ofMember('bob')).map(({ id }) => id)).toEqual([]);
  expect((await queries.ofMember('alice')).map(({ id, members, grants }) => [id, members, grants])).toEqual([['t1', 2, 2]]);
});

it('the read model is unchanged by repeated events and the same after a rebuild', async () => {
  const before = [await queries.all('alice'), await queries.grantsOf('t1'), await queries.membersOf('t1')];
  await model.again();
  await model.expectSameAfterRebuild();
  expect([await queries.all('alice'), await queries.grantsOf('t1'), await queries.membersOf('t1')]).toEqual(before);
});
