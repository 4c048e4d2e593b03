import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { type Client, conversationIdIn, messageIdIn, type Streamed, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { call, say, until } from '../support/scripted-model-server.js';
import { YEARLY } from '../support/schedules.js';
import { addedSource } from '../support/sources.js';
import { replyOf, type World } from '../support/world.js';

/** Two processes over one log, or one as both: where users ask, and where their access is changed. */
export type TeamPlaces = Readonly<{ asks: World; changes: World; close(): Promise<void> }>;

type Team = Readonly<{ id: string }> & Readonly<Record<string, unknown>>;

const STOPPED = { type: 'error', code: 'stopped' };

/** Teams: their members, what is shared with them, what members may do with it, and what happens when access ends. */
export function teamsStory(open: () => Promise<TeamPlaces>): void {
  let places: TeamPlaces;
  let world: World;
  /** Not a member of Alice's team, unlike Bob. */
  let mallory: Client;
  let bobId: string;

  beforeAll(async () => {
    places = await open();
    world = places.asks;
    mallory = await world.as('mallory');
    bobId = await world.idOf('bob');
    await world.idOf('mallory');
  });
  afterAll(() => places.close());
  beforeEach(() => world.model.reset());

  const found = async (name = 'Support', by = places.changes.alice): Promise<Team> =>
    ((await replyOf(by.post('/api/teams', { name, description: 'Who answers.' }))).body as { team: Team }).team;

  const withBob = async (role = 'team_member'): Promise<Team> => {
    const team = await found();
    const added = await replyOf(places.changes.alice.post(`/api/teams/${team.id}/members`, { user_id: bobId, role }));
    expect([added.status, added.body]).toEqual([200, { success: true }]);
    return team;
  };

  const share = (team: Team, type: string, id: string, fields: object = {}, by = places.changes.alice) =>
    replyOf(by.post(`/api/teams/${team.id}/grants`, { resource_type: type, resource_id: id, ...fields }));

  const unshare = (team: Team, type: string, id: string) =>
    replyOf(places.changes.alice.delete(`/api/teams/${team.id}/grants?resource_type=${type}&resource_id=${id}`));

  /** Waits until the other process has learned of a change. */
  const sees = (by: Client, path: string, status = 200) => eventually(async () => (await by.get(path)).status === status);

  describe('a team', () => {
    it('is listed with the role, the members and the shared resources', async () => {
      const team = await withBob();
      const agent = await world.agent();
      await share(team, 'agent', agent.id);
      const { teams } = await places.changes.bob.json<{ teams: Team[] }>('/api/teams');
      expect(teams.find(({ id }) => id === team.id)).toEqual({
        ...{ id: team.id, name: 'Support', description: 'Who answers.', owner_id: await world.idOf('alice') },
        slug: `support-${team.id.slice(0, 6)}`,
        ...{ created_at: expect.any(String), updated_at: expect.any(String) },
        ...{ member_role: 'team_member', member_count: 2, shared_count: 1 },
      });
    });

    it('shows its members to members, and does not exist for others', async () => {
      const team = await withBob();
      const { changes } = places;
      const { team: shown } = await changes.bob.json<{ team: Team }>(`/api/teams/${team.id}`);
      expect(shown).toMatchObject({
        member_role: 'team_member',
        members: [
          { role: 'team_admin', source: 'manual', email: null },
          { user_id: bobId, role: 'team_member' },
        ],
      });
      for (const path of ['', '/members', '/grants'])
        expect((await mallory.get(`/api/teams/${team.id}${path}`)).status).toBe(404);
      expect((await mallory.get(`/api/teams/${newId()}`)).status).toBe(404);
    });

    it.each([
      ['PUT', '', { name: 'Ours' }],
      ['POST', '/members', { user_id: 'bob', role: 'team_member' }],
      ['DELETE', '', undefined],
      ['POST', '/transfer_owner', { user_id: 'bob' }],
    ])('refuses %s %s to users without the role', async (method, path, body) => {
      const team = await withBob();
      const send = (by: Client) =>
        by.request(`/api/teams/${team.id}${path}`, {
          method,
          ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        });
      expect([(await send(places.changes.bob)).status, (await send(mallory)).status]).toEqual([403, 404]);
    });

    it('treats null as absent', async () => {
      const team = await withBob();
      const { alice } = places.changes;
      const changed = (body: object) => replyOf(alice.put(`/api/teams/${team.id}`, body));
      expect(await changed({ name: null })).toMatchObject({ status: 400, body: { message: 'nothing to update' } });
      expect(await changed({ name: null, description: 'Who asks.' })).toMatchObject({ status: 200 });
      expect((await changed({ name: 'Asking', description: null })).status).toBe(200);
      const member = { email: null, user_id: bobId, role: null };
      expect((await alice.post(`/api/teams/${team.id}/members`, member)).status).toBe(200);
      expect(await alice.json(`/api/teams/${team.id}`)).toMatchObject({
        team: { name: 'Asking', description: 'Who asks.', members: [{}, { user_id: bobId, role: 'team_member' }] },
      });
      const byAddress = await replyOf(
        alice.post(`/api/teams/${team.id}/members`, { email: 'nobody@example.com', user_id: null }),
      );
      expect(byAddress).toMatchObject({ status: 404, body: { message: 'User not found' } });
      const unnamed = await replyOf(alice.post(`/api/teams/${team.id}/members`, { email: null, user_id: null }));
      expect(unnamed).toMatchObject({ status: 400, body: { message: 'email or user_id required' } });
    });

    it('keeps at least one administrator, and its owner', async () => {
      const team = await withBob();
      const aliceId = await world.idOf('alice');
      const { alice, bob } = places.changes;
      const demoted = await replyOf(alice.put(`/api/teams/${team.id}/members/${aliceId}`, { role: 'team_member' }));
      expect([demoted.status, demoted.body]).toMatchObject([409, { message: 'Cannot demote the last team admin' }]);
      const removed = await replyOf(alice.delete(`/api/teams/${team.id}/members/${aliceId}`));
      expect([removed.status, removed.body]).toMatchObject([409, { message: 'Cannot remove the last team admin' }]);
      expect((await alice.post(`/api/teams/${team.id}/transfer_owner`, { user_id: bobId })).status).toBe(200);
      expect((await alice.delete(`/api/teams/${team.id}/members/${aliceId}`)).status).toBe(200);
      expect((await bob.delete(`/api/teams/${team.id}`)).status).toBe(200);
      expect((await bob.get(`/api/teams/${team.id}`)).status).toBe(404);
    });

    it('is listed for administrators of the installation, who may delete it', async () => {
      const team = await found();
      const root = await places.changes.as('root', { roles: ['admin'] });
      const { teams } = await root.json<{ teams: Team[] }>('/api/admin/teams');
      expect(teams.find(({ id }) => id === team.id)).toMatchObject({ member_role: null });
      expect((await places.changes.bob.get('/api/admin/teams')).status).toBe(403);
      expect((await root.delete(`/api/teams/${team.id}`)).status).toBe(200);
    });

    it('is on one of the pages that administrators of the installation ask for', async () => {
      const made = [await found(), await found(), await found()].map(({ id }) => id);
      const root = await places.changes.as('root', { roles: ['admin'] });
      const teamsOf = async (query: string) =>
        (await root.json<{ teams: (Team & { created_at: string })[] }>(`/api/admin/teams${query}`)).teams;
      const listed: string[] = [];
      for (let page = await teamsOf('?limit=2'); page.length > 0;) {
        expect(page.length).toBeLessThanOrEqual(2);
        listed.push(...page.map(({ id }) => id));
        const { created_at: after, id } = page.at(-1)!;
        page = await teamsOf(`?limit=2&after=${after}&after_id=${id}`);
      }
      expect(listed).toEqual((await teamsOf('')).map(({ id }) => id));
      expect(listed).toEqual(expect.arrayContaining(made));
      expect(await teamsOf('?after=2000-01-01&after_id=x')).toHaveLength(listed.length);
      for (const query of ['?after=2000-01-01', '?after_id=x', '?limit=0', '?limit=many', '?after=yesterday'])
        expect((await root.get(`/api/admin/teams${query}`)).status).toBe(400);
    });

    it.each([
      [{ name: ' ' }, 'name required'],
      [{}, 'Missing required fields: name'],
      [{ name: 'x'.repeat(201) }, 'name'],
    ])('refuses the fields %j', async (body, text) => {
      const { status, body: said } = await replyOf(places.changes.alice.post('/api/teams', body));
      expect([status, (said as { message: string }).message]).toEqual([400, expect.stringContaining(text)]);
    });

    it('notifies users when they are added, and when something is shared with them', async () => {
      const team = await withBob();
      const agent = await world.agent();
      await share(team, 'agent', agent.id, { access_level: 'editor' });
      const isTold = (text: string) => text.includes(`"resource_id":"${agent.id}"`);
      const { text } = await streamed(await places.changes.bob.get('/api/events?last_event_id=0-0'), isTold);
      expect(text).toContain(`"type":"team.member_added"`);
      expect(text).toContain(JSON.stringify({ kind: 'team', id: team.id }));
      const aliceId = await world.idOf('alice');
      expect(text).toContain(`"role":"team_member","added_by":"${aliceId}"`);
      expect(text).toContain(JSON.stringify({ kind: 'resource', id: agent.id }));
      expect(text).toContain(`"resource_id":"${agent.id}","resource_name":"Guide","access_level":"editor"`);
      expect(text).toContain(`"shared_by":"${aliceId}"`);
    });
  });

  describe('a grant', () => {
    it('is made by the owner of the resource, to members', async () => {
      const team = await withBob();
      const agent = await world.agent();
      const { status, body } = await share(team, 'agent', agent.id, { target_user_id: bobId });
      expect([status, body]).toEqual([
        201,
        {
          success: true,
          grant: {
            ...{ id: expect.any(String), team_id: team.id, resource_type: 'agent', resource_id: agent.id },
            ...{ owner_id: await world.idOf('alice'), access_level: 'viewer', target_user_id: bobId },
            ...{ granted_by: await world.idOf('alice'), created_at: expect.any(String) },
          },
        },
      ]);
      const shares = await places.changes.alice.json<{ shares: unknown[] }>(
        `/api/resource_shares?resource_type=agent&resource_id=${agent.id}`,
      );
      expect(shares.shares).toMatchObject([{ team_id: team.id, team_name: 'Support', target_user_id: bobId }]);
    });

    it.each([
      [{ resource_type: 'thing' }, 400, 'invalid resource'],
      [{ access_level: 'owner' }, 400, 'invalid access_level'],
      [{ target_user_id: 'nobody' }, 400, 'Target is not a team member'],
      [{ resource_id: newId() }, 404, 'Not found'],
    ])('with %j is refused', async (fields, status, message) => {
      const [team, agent] = [await withBob(), await world.agent()];
      const refused = await share(team, 'agent', agent.id, fields);
      expect([refused.status, refused.body]).toMatchObject([status, { message: expect.stringContaining(message) }]);
    });

    it('is refused for resources of other users, unless editors may share them', async () => {
      const [team, agent] = [await withBob(), await world.agent()];
      await share(team, 'agent', agent.id, { access_level: 'editor' });
      const other = await found('Others', places.changes.bob);
      const byBob = () => share(other, 'agent', agent.id, {}, places.changes.bob);
      expect((await byBob()).status).toBe(403);
      const settings = { resource_type: 'agent', resource_id: agent.id, settings: { editors_can_share: true } };
      const { body } = await replyOf(places.changes.alice.put('/api/resource_settings', settings));
      expect((body as { settings: unknown[] }).settings).toContainEqual({
        ...{ key: 'editors_can_share', value: true, default: false },
      });
      expect((await byBob()).status).toBe(201);
      // Alice is not a member there but owns the agent, so she may end the grant. For Mallory the team does not exist.
      const grant = `/api/teams/${other.id}/grants?resource_type=agent&resource_id=${agent.id}`;
      expect((await mallory.delete(grant)).status).toBe(404);
      const ended = await replyOf(places.changes.alice.delete(grant));
      expect([ended.status, ended.body]).toEqual([200, { success: true }]);
      expect((await places.changes.alice.delete(grant)).status).toBe(404);
      expect((await places.changes.bob.put('/api/resource_settings', settings)).status).toBe(403);
    });

    it('lets viewers use an agent without seeing its settings, and editors change it', async () => {
      const [team, agent] = [await withBob(), await world.agent({ config: { api_write_allowlist: ['t:write'] } })];
      const { bob } = places.changes;
      expect((await bob.get(`/api/get_agent?id=${agent.id}`)).status).toBe(404);
      await share(team, 'agent', agent.id);
      const viewed = await bob.json<Record<string, unknown>>(`/api/get_agent?id=${agent.id}`);
      expect(viewed).toMatchObject({
        ...{ ownership: 'team', team_access: 'viewer', access: 'viewer', allowed_actions: ['pin', 'use'], config: {} },
        resource_states: [],
      });
      expect(viewed).not.toHaveProperty('key');
      const edit = { description: 'Bob was here', config: { api_write_allowlist: ['t:other'], restrict_origins: false } };
      const refused = await replyOf(bob.put(`/api/update_agent/${agent.id}`, edit));
      expect([refused.status, refused.body]).toMatchObject([403, { message: "Your access to this item doesn't allow that" }]);
      await share(team, 'agent', agent.id, { access_level: 'editor' });
      expect((await bob.put(`/api/update_agent/${agent.id}`, edit)).status).toBe(200);
      const edited = await places.changes.alice.json<Record<string, unknown>>(`/api/get_agent?id=${agent.id}`);
      expect(edited).toMatchObject({ description: 'Bob was here', config: { api_write_allowlist: ['t:write'] } });
      const root = await places.changes.as('root', { roles: ['admin'] });
      await eventually(async () => {
        const path = `/api/audit/events?stream=agent-${agent.id}&type=AgentUpdated`;
        const { events } = await root.json<{ events: { actor: string }[] }>(path);
        return events.some(({ actor }) => actor === `user:${bobId}`);
      });
      expect((await bob.post(`/api/regenerate_agent_key/${agent.id}`, {})).status).toBe(403);
      expect((await bob.delete(`/api/delete_agent?id=${agent.id}`)).status).toBe(403);
    });

    it('lets a viewer list, pin and ask an agent, and the conversation belongs to the viewer', async () => {
      const [team, agent] = [await withBob(), await world.agent()];
      await share(team, 'agent', agent.id);
      await sees(world.bob, `/api/get_agent?id=${agent.id}`);
      const listed = await places.changes.bob.json<{ id: string }[]>('/api/get_agents');
      expect(listed.map(({ id }) => id)).toContain(agent.id);
      expect((await places.changes.bob.post(`/api/pin_agent?id=${agent.id}`, {})).status).toBe(200);
      expect(await places.changes.bob.json('/api/pinned_agents')).toMatchObject([{ id: agent.id, team_access: 'viewer' }]);
      world.model.next(say('Tea.'));
      const asked = await world.bob.stream({ question: 'What?', agent_id: agent.id, visibility: 'listed' });
      expect(asked.frames.at(-1)!.data.type).toBe('end');
      const path = `/api/get_single_conversation?id=${conversationIdIn(asked)}`;
      expect(await world.bob.json(path)).toMatchObject({ is_shared_usage: true, agent_id: agent.id });
      expect((await world.alice.get(path)).status).toBe(404);
    });

    it('lets members use a prompt, a source and a tool in their own agents', async () => {
      const team = await withBob();
      const { alice, bob } = places.changes;
      const made = async (path: string, body: object) => ((await (await alice.post(path, body)).json()) as { id: string }).id;
      const prompt = await made('/api/create_prompt', { name: 'Pirate', content: 'Talk like a pirate.' });
      const source = await addedSource(alice, 'Tea times', 'Tea is at four.');
      const note = { name: 'ntfy', displayName: 'Phone', description: 'Mine', config: { token: 'secret' }, status: true };
      const tool = await made('/api/create_tool', note);
      const fields = { prompt_id: prompt, source, tools: [tool] };
      const whole = { name: 'Mine', description: 'Bob’s', chunks: 4, retriever: 'classic', status: 'published' };
      expect((await bob.post('/api/create_agent', { ...whole, ...fields })).status).toBe(404);
      for (const [type, id] of [
        ['prompt', prompt],
        ['source', source],
        ['tool', tool],
      ] as const)
        expect((await share(team, type, id)).status).toBe(201);
      const agent = await world.agent(fields, bob);
      await sees(world.bob, `/api/get_agent?id=${agent.id}`);
      await sees(world.bob, `/api/get_single_prompt?id=${prompt}`);
      world.model.next(say('Arr, at four.'));
      const asked = await world.bob.stream({ question: 'When is tea?', agent_id: agent.id });
      expect(asked.text).toContain('Tea is at four.');
      const [request] = world.model.requests;
      expect(JSON.stringify(request!.body.messages)).toContain('Talk like a pirate.');
      expect(JSON.stringify(request!.body.tools)).toContain('send');
      const shown = await bob.json<{ resource_states: { id: string; state: string }[] }>(`/api/get_agent?id=${agent.id}`);
      expect(shown.resource_states.map(({ state }) => state)).toEqual(['active', 'active', 'active']);
      await unshare(team, 'source', source);
      const after = await bob.json<{ resource_states: unknown[] }>(`/api/get_agent?id=${agent.id}`);
      expect(after.resource_states).toContainEqual(
        expect.objectContaining({ id: source, state: 'stopped', reason: 'owner_lost_access' }),
      );
    });

    it('lets editors change prompts, sources and tools, and viewers read them', async () => {
      const team = await withBob();
      const { alice, bob } = places.changes;
      const { id } = (await (await alice.post('/api/create_prompt', { name: 'Brief', content: 'Be brief.' })).json()) as Team;
      await share(team, 'prompt', id);
      expect(await bob.json(`/api/get_single_prompt?id=${id}`)).toMatchObject({ content: 'Be brief.' });
      const edit = { id, name: 'Brief', content: 'Be very brief.' };
      expect((await bob.post('/api/update_prompt', edit)).status).toBe(403);
      await share(team, 'prompt', id, { access_level: 'editor' });
      expect((await bob.post('/api/update_prompt', edit)).status).toBe(200);
      expect((await bob.post('/api/delete_prompt', { id })).status).toBe(403);
      await alice.put('/api/resource_settings', {
        ...{ resource_type: 'prompt', resource_id: id, settings: { viewers_can_duplicate: false } },
      });
      await share(team, 'prompt', id);
      expect((await bob.get(`/api/get_single_prompt?id=${id}`)).status).toBe(403);
    });

    it('of a deleted resource ends', async () => {
      const [team, agent] = [await withBob(), await world.agent()];
      await share(team, 'agent', agent.id);
      expect((await places.changes.alice.delete(`/api/delete_agent?id=${agent.id}`)).status).toBe(200);
      await eventually(async () => {
        const { grants } = await places.changes.alice.json<{ grants: unknown[] }>(`/api/teams/${team.id}/grants`);
        return grants.length === 0;
      });
    });
  });

  describe('access that ends', () => {
    const ENDS: Readonly<Record<string, (team: Team, agentId: string) => Promise<unknown>>> = {
      'a grant is revoked': (team, agentId) => unshare(team, 'agent', agentId),
      'the member is removed': (team) => places.changes.alice.delete(`/api/teams/${team.id}/members/${bobId}`),
      'the team is deleted': (team) => places.changes.alice.delete(`/api/teams/${team.id}`),
    };

    it.each(Object.entries(ENDS))('stops the running turn when %s, and its journal remains', async (_, end) => {
      const [team, agent] = [await withBob(), await world.agent()];
      await share(team, 'agent', agent.id);
      await sees(world.bob, `/api/get_agent?id=${agent.id}`);
      let goOn = (): void => undefined;
      world.model.next([...say('Before. '), until(new Promise<void>((resolve) => (goOn = resolve))), ...say('After.')]);
      let asked!: Promise<Streamed>;
      await new Promise<void>((begun) => {
        asked = world.bob.stream({ question: 'What?', agent_id: agent.id }, (text) => {
          if (text.includes('Before.')) begun();
          return false;
        });
      });
      await end(team, agent.id);
      const { frames } = await asked;
      goOn();
      expect(frames.at(-1)!.data).toMatchObject(STOPPED);
      const replay = await streamed(await world.bob.get(`/api/messages/${messageIdIn({ frames } as Streamed)}/events`));
      expect(replay.frames.map(({ raw }) => raw)).toEqual(frames.map(({ raw }) => raw));
      const again = await world.bob.stream({ question: 'And now?', agent_id: agent.id });
      expect(again.status).toBe(404);
    });

    it('has no effect on members who keep it by another grant', async () => {
      const [team, agent] = [await withBob(), await world.agent()];
      await share(team, 'agent', agent.id);
      await share(team, 'agent', agent.id, { target_user_id: bobId });
      await sees(world.bob, `/api/get_agent?id=${agent.id}`);
      await unshare(team, 'agent', agent.id);
      world.model.next(say('Still here.'));
      const asked = await world.bob.stream({ question: 'What?', agent_id: agent.id });
      expect(asked.frames.at(-1)!.data.type).toBe('end');
    });

    it('prevents pending approvals and the conversation from continuing', async () => {
      const tool = { name: 'ntfy', displayName: 'Phone', description: 'Mine', config: { token: 'secret' }, status: true };
      const { id } = (await (await world.bob.post('/api/create_tool', tool)).json()) as Team;
      const [team, agent] = [await withBob(), await world.agent()];
      await share(team, 'agent', agent.id);
      await sees(world.bob, `/api/get_agent?id=${agent.id}`);
      expect(id).toBeTruthy();
      const clientTool = { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } };
      world.model.next([call('c1', 'look', {})]);
      const asked = await world.bob.stream({ question: 'Look', agent_id: agent.id, client_tools: [clientTool] });
      const conversationId = conversationIdIn(asked);
      await unshare(team, 'agent', agent.id);
      await sees(world.bob, `/api/get_agent?id=${agent.id}`, 404);
      const resumed = await world.bob.stream({
        ...{ conversation_id: conversationId, tool_actions: [{ call_id: 'c1', result: 'seen' }] },
      });
      expect(resumed.status).toBe(404);
      expect((await world.bob.stream({ question: 'Go on', conversation_id: conversationId })).status).toBe(404);
    });

    it('makes a run of the editor’s schedule fail when it starts', async () => {
      const [team, agent] = [await withBob(), await world.agent()];
      await share(team, 'agent', agent.id, { access_level: 'editor' });
      await sees(world.bob, `/api/get_agent?id=${agent.id}`);
      const made = await replyOf(world.bob.post(`/api/agents/${agent.id}/schedules`, YEARLY));
      const { schedule } = made.body as { schedule: Team };
      await unshare(team, 'agent', agent.id);
      await sees(world.bob, `/api/get_agent?id=${agent.id}`, 404);
      const { run } = (await replyOf(world.bob.post(`/api/schedules/${schedule.id}/run`, {}))).body as { run: Team };
      await eventually(async () => {
        const shown = await world.bob.json<{ run: { status: string } }>(`/api/schedules/${schedule.id}/runs/${run.id}`);
        return shown.run.status === 'failed';
      });
      expect(world.model.requests).toEqual([]);
      const { body } = await replyOf(world.alice.get(`/api/agents/${agent.id}/schedules/stats`));
      expect(body).toMatchObject({ failed: 1, latest_failure: { id: run.id, user_id: await world.idOf('bob') } });
    });
  });
}
