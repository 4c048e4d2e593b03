import { describe, expect, it } from '@jest/globals';
import { framesIn } from '../../support/client.js';
import type { Ground, Json } from './ground.js';

/** The pages of teams, the sharing dialogs, and the pages of shared resources. */
export function sharingPages(ground: () => Ground): void {
  const team = async (name: string): Promise<string> => {
    const made = await ground().post<{ team: Json }>('/api/teams', { name });
    return String(made.team['id']);
  };
  const agent = async (name: string): Promise<string> => (await ground().world.agent({ name }, ground().user)).id;

  it('the pages of teams create one, show its members and what it shares, and transfer it', async () => {
    const page = ground();
    const id = await team('Support');
    const bob = await page.world.idOf('bob');
    const at = `/api/teams/${id}`;
    expect(await page.put(at, { name: 'Support', description: 'Who answers.' })).toEqual({ success: true });
    expect(await page.post(`${at}/members`, { user_id: bob, role: 'team_member' })).toEqual({ success: true });
    const { members } = await page.get<{ members: Json[] }>(`${at}/members`);
    expect(members.find(({ user_id }) => user_id === bob)).toMatchObject({ role: 'team_member', source: 'manual' });
    expect(await page.put(`${at}/members/${encodeURIComponent(bob)}`, { role: 'team_admin' })).toEqual({ success: true });
    expect(await page.get(at)).toMatchObject({ success: true, team: { id, name: 'Support', member_role: 'team_admin' } });
    expect(await page.post(`${at}/transfer_owner`, { user_id: bob })).toEqual({ success: true });
    const { teams } = await page.get<{ teams: Json[] }>('/api/teams');
    expect(teams).toMatchObject([{ id, owner_id: bob, member_role: 'team_admin', member_count: 2, shared_count: 0 }]);
    const me = String((await page.get('/api/user/me'))['user_id']);
    expect(await page.delete(`${at}/members/${me}`)).toEqual({ success: true });
  });

  it('the dialog of a resource shares it with a team, changes the access and removes it', async () => {
    const page = ground();
    const [id, resource_id] = [await team('Readers'), await agent('Shared')];
    const about = { resource_type: 'agent', resource_id };
    const grants = `/api/teams/${id}/grants`;
    const granted = await page.post(grants, { ...about, access_level: 'editor', target_user_id: null });
    expect(granted).toMatchObject({ success: true, grant: { ...about, team_id: id, access_level: 'editor' } });
    const query = `resource_type=agent&resource_id=${resource_id}`;
    expect(await page.get(`/api/resource_shares?${query}`)).toMatchObject({
      shares: [{ team_name: 'Readers', access_level: 'editor' }],
    });
    expect(await page.get(`${grants}?resource_type=agent`)).toMatchObject({ success: true, grants: [about] });
    const settings = await page.get(`/api/resource_settings?${query}`);
    expect(settings).toMatchObject({ success: true, settings: expect.any(Array) });
    expect(await page.delete(`${grants}?${query}`, about)).toEqual({ success: true });
    expect(await page.delete(`/api/teams/${id}`)).toEqual({ success: true });
  });

  describe('a link', () => {
    it('to a conversation opens its page, which shows and continues it', async () => {
      const page = ground();
      const body = { question: 'When is tea?', visibility: 'listed' };
      const frames = framesIn(await page.text({ method: 'POST', path: '/stream', body }));
      const conversation_id = frames.find(({ data: { type } }) => type === 'id')!.data['id'];
      const plain = await page.post('/api/share?isPromptable=false', { conversation_id });
      expect(plain).toMatchObject({ success: true, identifier: expect.any(String) });
      const wanted = { conversation_id, chunks: '2', prompt_id: 'default' };
      const { identifier } = await page.post('/api/share?isPromptable=true', wanted);
      const shown = await page.get(`/api/shared_conversation/${String(identifier)}`);
      expect(shown).toMatchObject({
        success: true,
        title: expect.any(String),
        queries: [{ prompt: 'When is tea?' }],
        api_key: expect.any(String),
      });
      const asked = { question: 'And cake?', history: '[]', api_key: shown['api_key'], save_conversation: false };
      expect(await page.text({ method: 'POST', path: '/stream', body: asked })).toContain('"type":"end"');
    });

    it('to an agent opens its page, which shows, keeps and copies it', async () => {
      const page = ground();
      const { id } = await page.world.agent({ name: 'Open' }, page.world.bob);
      const shared = (await (await page.world.bob.put('/api/share_agent', { id, shared: true })).json()) as Json;
      expect(await page.get(`/api/shared_agent?token=${String(shared['shared_token'])}`)).toMatchObject({
        id,
        name: 'Open',
        tools: [],
      });
      expect(await page.get('/api/shared_agents')).toMatchObject([{ id }]);
      const adopted = await page.post<{ agent: Json }>(`/api/adopt_agent?id=${id}`);
      expect(adopted).toMatchObject({ success: true, agent: { name: 'Open', key: expect.any(String) } });
      expect(await page.delete(`/api/remove_shared_agent?id=${id}`)).toEqual({ success: true, action: 'removed' });
    });
  });
}
