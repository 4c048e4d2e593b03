import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, type Client, conversationIdIn, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { ReferenceDevice } from '../support/reference-device.js';
import { call, say } from '../support/scripted-model-server.js';
import { addedSource } from '../support/sources.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Json = Record<string, unknown>;

/**
 * What the team pages, the sharing dialogs and the devices page of the incumbent's web client send, and which fields of responses
 * they read.
 */
export function webClientSharingStory(makeBacking: MakeBacking): void {
  let world: World;
  let bobId: string;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    bobId = await world.idOf('bob');
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  /** The client reads the body of every response, whatever its status. */
  const bodyOf = async (response: Promise<Response>) => (await replyOf(response)).body as Json;
  /** Sends a `DELETE` with a body, like the client. */
  const remove = (by: Client, path: string, body: object) =>
    bodyOf(by.request(path, { method: 'DELETE', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }));
  const { stringify } = JSON;

  describe('the pages of teams', () => {
    let team: Json;
    beforeAll(async () => {
      const made = await bodyOf(world.alice.post('/api/teams', { name: 'Support' }));
      expect(made['success']).toBe(true);
      team = made['team'] as Json;
    });
    const path = (more = '') => `/api/teams/${String(team['id'])}${more}`;

    it('show a team on its card, and rename it', async () => {
      expect(await bodyOf(world.alice.put(path(), { name: 'Support', description: 'Who answers.' }))).toEqual({ success: true });
      const { teams } = await world.alice.json<{ teams: Json[] }>('/api/teams');
      expect(teams.find(({ id }) => id === team['id'])).toMatchObject({
        ...{ name: 'Support', description: 'Who answers.', owner_id: await world.idOf('alice') },
        ...{ member_role: 'team_admin', member_count: 1, shared_count: 0 },
      });
    });

    it('add a member by email address, or report why not', async () => {
      const unknown = { email: 'nobody@nowhere.example', role: 'team_member' };
      expect(await bodyOf(world.alice.post(path('/members'), unknown))).toMatchObject({
        ...{ success: false, message: expect.any(String) },
      });
      expect(await bodyOf(world.alice.post(path('/members'), { email: '', user_id: bobId, role: 'team_member' }))).toMatchObject({
        success: false,
      });
      expect(await bodyOf(world.alice.post(path('/members'), { user_id: bobId, role: 'team_member' }))).toEqual({
        success: true,
      });
      const { members } = await bodyOf(world.alice.get(path('/members')));
      expect(members).toContainEqual(expect.objectContaining({ user_id: bobId, role: 'team_member', source: 'manual' }));
    });

    it('change a role, and show why a change is refused', async () => {
      const member = path(`/members/${encodeURIComponent(bobId)}`);
      for (const role of ['team_admin', 'team_member'])
        expect(await bodyOf(world.alice.put(member, { role }))).toEqual({ success: true });
      const own = path(`/members/${await world.idOf('alice')}`);
      expect(await bodyOf(world.alice.put(own, { role: 'team_member' }))).toMatchObject({
        ...{ success: false, message: 'Cannot demote the last team admin' },
      });
    });

    it('list shared resources with names from the user’s own lists', async () => {
      const agent = await world.agent({ name: 'Porter' });
      const tool = { name: 'ntfy', displayName: 'Phone', description: 'Mine', config: { token: 'tok of alice' }, status: true };
      const { id: toolId } = (await bodyOf(world.alice.post('/api/create_tool', tool))) as { id: string };
      for (const [resource_type, resource_id] of [
        ['agent', agent.id],
        ['tool', toolId],
      ] as const)
        await world.alice.post(path('/grants'), { resource_type, resource_id, access_level: 'viewer' });
      const { grants } = (await bodyOf(world.bob.get(path('/grants')))) as { grants: Json[] };
      expect(grants.map(({ resource_id }) => resource_id)).toEqual([agent.id, toolId]);
      const agents = await world.bob.json<Json[]>('/api/get_agents');
      expect(agents.find(({ id }) => id === agent.id)).toMatchObject({ name: 'Porter', team_access: 'viewer' });
      const { tools } = await world.bob.json<{ tools: Json[] }>('/api/get_tools');
      expect(tools.find(({ id }) => id === toolId)).toMatchObject({ displayName: 'Phone', team_access: 'viewer' });
      expect(stringify(tools)).not.toContain('tok of alice');
      expect(await bodyOf(world.bob.get(path('/grants?resource_type=tool')))).toMatchObject({
        grants: [{ resource_id: toolId }],
      });
    });

    it('leave, and delete the team', async () => {
      expect(await bodyOf(world.bob.delete(path(`/members/${bobId}`)))).toEqual({ success: true });
      expect(await bodyOf(world.bob.get(path()))).toMatchObject({ success: false });
      expect(await bodyOf(world.alice.delete(path()))).toEqual({ success: true });
      const { teams } = await world.alice.json<{ teams: Json[] }>('/api/teams');
      expect(teams.map(({ id }) => id)).not.toContain(team['id']);
    });
  });

  it('the dialog that shares with teams lists, adds, changes and removes grants', async () => {
    const { team } = (await bodyOf(world.alice.post('/api/teams', { name: 'Readers' }))) as { team: Json };
    const id = String(team['id']);
    await world.alice.post(`/api/teams/${id}/members`, { user_id: bobId, role: 'team_member' });
    const source = await addedSource(world.alice, 'Handbook', 'The garage opens at six.');
    const about = { resource_type: 'source', resource_id: source };
    const shares = async () => {
      const listed = await bodyOf(world.alice.get(`/api/resource_shares?resource_type=source&resource_id=${source}`));
      return (listed['shares'] as Json[]).map(({ team_name, access_level, target_user_id }) => [
        team_name,
        access_level,
        target_user_id,
      ]);
    };
    const add = (fields: object) => bodyOf(world.alice.post(`/api/teams/${id}/grants`, { ...about, ...fields }));
    expect(await add({ access_level: 'viewer', target_user_id: null })).toMatchObject({ success: true });
    expect(await add({ access_level: 'editor', target_user_id: bobId })).toMatchObject({ success: true });
    expect(await add({ access_level: 'editor', target_user_id: null })).toMatchObject({ success: true });
    expect(await shares()).toEqual([
      ['Readers', 'editor', null],
      ['Readers', 'editor', bobId],
    ]);
    const query = `?resource_type=source&resource_id=${source}`;
    const grants = `/api/teams/${id}/grants${query}`;
    expect(await remove(world.alice, `${grants}&target_user_id=${bobId}`, { ...about, target_user_id: bobId })).toEqual({
      success: true,
    });
    expect(await remove(world.alice, grants, about)).toEqual({ success: true });
    expect(await shares()).toEqual([]);
  });

  it('the page of sources has those of teams, and the config that its dialog edits', async () => {
    const { team } = (await bodyOf(world.alice.post('/api/teams', { name: 'Editors' }))) as { team: Json };
    const id = String(team['id']);
    await world.alice.post(`/api/teams/${id}/members`, { user_id: bobId, role: 'team_member' });
    const source = await addedSource(world.alice, 'Paged', 'The garage opens at six.');
    await world.alice.patch(`/api/sources/${source}/config`, { retrieval: { chunks: 9 } });
    const row = async (by: Client) => {
      const { paginated, total } = await by.json<{ paginated: Json[]; total: number }>('/api/sources/paginated?search=Paged');
      expect(paginated).toHaveLength(total);
      return paginated.find((listed) => listed['id'] === source);
    };
    const config = { kind: 'classic', retrieval: { chunks: 9 } };
    expect(await row(world.alice)).toMatchObject({ config, ownership: 'user', team_access: null, ingestStatus: 'completed' });
    expect(await row(world.bob)).toBeUndefined();
    for (const access_level of ['viewer', 'editor']) {
      await world.alice.post(`/api/teams/${id}/grants`, { resource_type: 'source', resource_id: source, access_level });
      expect(await row(world.bob)).toMatchObject({ ownership: 'team', team_access: access_level });
    }
    expect(await row(world.bob)).toMatchObject({ config });
  });

  it('a toast names the added member and the shared resource', async () => {
    const { team } = (await bodyOf(world.alice.post('/api/teams', { name: 'Told' }))) as { team: Json };
    const id = String(team['id']);
    await world.alice.post(`/api/teams/${id}/members`, { user_id: bobId, role: 'team_admin' });
    const agent = await world.agent({ name: 'Told of' });
    await world.alice.post(`/api/teams/${id}/grants`, { resource_type: 'agent', resource_id: agent.id, access_level: 'editor' });
    const isTold = (text: string) => text.includes(agent.id);
    const { text } = await streamed(await world.bob.get('/api/events?last_event_id=0-0'), isTold);
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Json);
    const told = (type: string) => events.findLast((event) => event['type'] === type)?.['payload'];
    expect(told('team.member_added')).toMatchObject({ team_name: 'Told', role: 'team_admin' });
    expect(told('resource.shared')).toMatchObject({
      ...{ resource_type: 'agent', resource_name: 'Told of', access_level: 'editor' },
    });
  });

  it('the dialog of a conversation creates its link, whose page shows it and continues it', async () => {
    const source = await addedSource(world.alice, 'Teas', 'Cake is at six.');
    world.model.next(say('Tea is at four.'));
    const conversation_id = conversationIdIn(await world.alice.stream({ question: 'When is tea?', visibility: 'listed' }));
    const plain = await bodyOf(world.alice.post('/api/share?isPromptable=false', { conversation_id }));
    expect(plain).toMatchObject({ success: true, identifier: expect.any(String) });
    expect(await bodyOf(world.nobody.get(`/api/shared_conversation/${String(plain['identifier'])}`))).not.toHaveProperty(
      'api_key',
    );
    const wanted = { conversation_id, chunks: '2', prompt_id: 'default', source };
    const shared = await bodyOf(world.alice.post('/api/share?isPromptable=true', wanted));
    const page = await bodyOf(world.nobody.get(`/api/shared_conversation/${String(shared['identifier'])}`));
    expect(page).toMatchObject({
      ...{ success: true, title: 'When is tea?', timestamp: expect.any(String), api_key: expect.any(String) },
      queries: [{ prompt: 'When is tea?', response: 'Tea is at four.', tool_calls: [] }],
    });
    const queries = page['queries'] as Json[];
    const history = [...queries, { prompt: 'And cake?' }].map(({ prompt, response, tool_calls }) => ({
      prompt,
      response,
      tool_calls,
    }));
    world.model.next(say('At six.'));
    const asked = await world.nobody.stream({
      ...{ question: 'And cake?', history: stringify(history), api_key: page['api_key'] },
      ...{ save_conversation: false, visibility: 'hidden' },
    });
    expect(answerIn(asked)).toBe('At six.');
    expect(stringify(world.model.completions.at(-1)!.body.messages)).toContain('Cake is at six.');
    expect(asked.frames.map(({ data }) => data.type)).toEqual(expect.arrayContaining(['source', 'tool_calls', 'end']));
    expect((await world.nobody.get('/api/shared_conversation/gone')).status).toBe(404);
  });

  it('the page of a shared agent shows it, and its visitor asks, keeps and copies it', async () => {
    const agent = await world.agent({ name: 'Open' });
    const shared = await bodyOf(world.alice.put('/api/share_agent', { id: agent.id, shared: true }));
    const response = await world.bob.get(`/api/shared_agent?token=${String(shared['shared_token'])}`);
    expect(response.ok).toBe(true);
    expect(await response.json()).toMatchObject({ id: agent.id, name: 'Open', tools: [] });
    await eventually(async () => (await world.bob.get(`/api/get_agent?id=${agent.id}`)).ok);
    world.model.next(say('Hello.'));
    const asked = await world.bob.stream({
      ...{ question: 'Hi', history: '[]', conversation_id: null, agent_id: agent.id, isNoneDoc: true, visibility: 'listed' },
    });
    expect(answerIn(asked)).toBe('Hello.');
    expect(await world.bob.json<Json[]>('/api/shared_agents')).toMatchObject([{ id: agent.id }]);
    const adopted = await bodyOf(world.bob.post(`/api/adopt_agent?id=${agent.id}`, {}));
    expect(adopted).toMatchObject({ success: true, agent: { name: 'Open', key: expect.any(String) } });
    expect(await bodyOf(world.bob.delete(`/api/remove_shared_agent?id=${agent.id}`))).toEqual({
      success: true,
      action: 'removed',
    });
  });

  it('the page of devices pairs one, waits for it, configures it, shows what it ran and revokes it', async () => {
    const body = { name: 'Build', description: undefined, approval_mode: 'ask' };
    const pairing = (await bodyOf(world.alice.post('/api/devices/pairings', body))) as Record<string, string>;
    const poll = () => bodyOf(world.alice.get(`/api/devices/pairings/${pairing['device_code']}`));
    expect(await poll()).toMatchObject({ status: 'pending', device_id: null });
    const device = await ReferenceDevice.paired(world.service.url, pairing['user_code']!);
    expect(await poll()).toMatchObject({ status: 'redeemed', device_id: device.id, device_name: device.name });
    const { devices } = (await bodyOf(world.alice.get('/api/devices'))) as { devices: Json[] };
    expect(devices.find(({ id }) => id === device.id)).toMatchObject({ status: 'active', last_seen_at: null });
    const path = `/api/devices/${device.id}`;
    const changed = await bodyOf(
      world.alice.request(path, {
        ...{ method: 'PATCH', body: stringify({ approval_mode: 'full' }), headers: { 'content-type': 'application/json' } },
      }),
    );
    expect(changed).toMatchObject({ id: device.id, approval_mode: 'full', name: device.name });

    const { pattern } = await bodyOf(world.alice.post(`${path}/auto-approve`, { command: 'git status' }));
    expect(await bodyOf(world.alice.get(`${path}/auto-approve`))).toEqual({ patterns: [pattern] });
    expect(await remove(world.alice, `${path}/auto-approve`, { pattern })).toEqual({ success: true });

    let toolId: unknown;
    await eventually(async () => {
      const { tools } = await world.alice.json<{ tools: Json[] }>('/api/get_tools');
      toolId = tools.find(({ config }) => (config as Json)['device_id'] === device.id)?.['id'];
      return toolId !== undefined;
    });
    const agent = await world.agent({ tools: [toolId] });
    world.model.next([call('c1', 'run_command', { command: 'ls', timeout_ms: 1 })], say('Done.'));
    await world.alice.stream({ question: 'Run it', agent_id: agent.id });
    let entries: Json[] = [];
    await eventually(async () => {
      entries = ((await bodyOf(world.alice.get(`${path}/audit`))) as { entries: Json[] }).entries;
      return entries[0]?.['decision'] === 'expired';
    });
    expect(entries).toMatchObject([
      { id: expect.anything(), device_id: device.id, command: 'ls', decision: 'expired', exit_code: null, duration_ms: null },
    ]);
    expect(Date.parse(entries[0]!['created_at'] as string)).not.toBeNaN();
    expect(await bodyOf(world.alice.delete(path))).toEqual({ success: true });
    expect(await bodyOf(world.alice.get(path))).toMatchObject({ status: 'revoked' });
  });

  it('the page of devices cancels a code when its dialog closes', async () => {
    const pairing = (await bodyOf(world.alice.post('/api/devices/pairings', { approval_mode: 'ask' }))) as Record<string, string>;
    const path = `/api/devices/pairings/${pairing['device_code']}`;
    expect(await bodyOf(world.alice.delete(path))).toEqual({ success: true });
    expect((await ReferenceDevice.redeem(world.service.url, pairing['user_code']!)).status).toBe(404);
  });
}
