import { describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { mcpServerForTests } from '../../support/mcp-server.js';
import { ReferenceDevice } from '../../support/reference-device.js';
import { file, type Ground, type Json } from './ground.js';

const SPEC = JSON.stringify({
  ...{ openapi: '3.1.0', info: { title: 'Weather', version: '1' }, servers: [{ url: 'https://weather.example' }] },
  paths: { '/today': { get: { operationId: 'today', responses: { 200: { description: 'The weather' } } } } },
});

/** The pages of settings: prompts, tools, models, analytics, logs and devices. */
export function settingsPages(ground: () => Ground): void {
  it('the page of prompts creates one, shows, changes and deletes it', async () => {
    const page = ground();
    const { id } = await page.post('/api/create_prompt', { name: 'Pirate', content: 'Answer like a pirate.' });
    const presets = ['default', 'creative', 'strict'].map((name) => ({ id: name, name, type: 'public' }));
    expect(await page.get('/api/get_prompts')).toMatchObject([...presets, { id, name: 'Pirate', type: 'private' }]);
    expect(await page.get(`/api/get_single_prompt?id=${String(id)}`)).toMatchObject({ content: 'Answer like a pirate.' });
    expect(await page.get('/api/get_single_prompt?id=default')).toMatchObject({ content: expect.any(String) });
    expect(await page.post('/api/update_prompt', { id, name: 'Pirate', content: 'Ahoy.' })).toMatchObject({ success: true });
    expect(await page.post('/api/delete_prompt', { id })).toEqual({ success: true });
  });

  describe('the page of tools', () => {
    it('offers kinds of tools, configures one, disables and deletes it', async () => {
      const page = ground();
      const { data } = await page.get<{ data: Json[] }>('/api/available_tools');
      const kind = {
        name: 'ntfy',
        displayName: expect.any(String),
        configRequirements: { token: { secret: true } },
        actions: expect.any(Array),
      };
      expect(data.find(({ name }) => name === 'ntfy')).toMatchObject(kind);
      const config = { token: 'tok-secret' };
      const { id } = await page.post('/api/create_tool', {
        name: 'ntfy',
        displayName: 'Phone',
        description: '',
        config,
        status: true,
      });
      const mine = async () => (await page.get<{ tools: Json[] }>('/api/get_tools')).tools.find((tool) => tool['id'] === id);
      expect(await mine()).toMatchObject({
        name: 'ntfy',
        displayName: 'Phone',
        status: true,
        config: { has_encrypted_credentials: true },
      });
      expect(await page.post('/api/update_tool_status', { id, status: false })).toEqual({ success: true });
      const { actions } = (await mine())!;
      expect(await page.post('/api/update_tool', { id, customName: 'My phone', actions })).toEqual({ success: true });
      const shown = await mine();
      expect(shown).toMatchObject({ customName: 'My phone', status: false });
      expect(JSON.stringify(shown)).not.toContain('tok-secret');
      expect(await page.post('/api/delete_tool', { id })).toEqual({ success: true });
    });

    it('reads the description of an API, and connects a tool server', async () => {
      const page = ground();
      const parsed = await page.send('/api/parse_spec', { file: file('weather.json', 'application/json', SPEC) });
      expect(parsed).toMatchObject({
        success: true,
        metadata: { title: 'Weather' },
        actions: [{ name: 'today', method: 'GET' }],
      });
      const server = await mcpServerForTests();
      try {
        const config = { server_url: server.url, auth_type: 'none', timeout: 30 };
        expect(await page.post('/api/mcp_server/test', { config })).toMatchObject({ success: true, tools: expect.any(Array) });
        const saved = await page.post('/api/mcp_server/save', { displayName: 'Words', config, status: true });
        expect(saved).toMatchObject({ success: true, id: expect.any(String), tools_count: expect.any(Number) });
        expect(await page.get('/api/mcp_server/auth_status')).toMatchObject({
          success: true,
          statuses: { [String(saved['id'])]: 'configured' },
        });
        await page.post('/api/delete_tool', { id: saved['id'] });
      } finally {
        await server.close();
      }
    });
  });

  it('the page of models tests, adds, changes and deletes a model', async () => {
    const page = ground();
    expect(await page.get('/api/models')).toMatchObject({
      default_model_id: 'scripted',
      models: [{ id: 'scripted', source: 'builtin' }],
    });
    const endpoint = { upstream_model_id: 'scripted', base_url: page.world.model.url, api_key: 'sk-mine' };
    const capabilities = { supports_tools: true, supports_structured_output: false, attachments: [], context_window: 128_000 };
    expect(await page.post('/api/user/models/test', endpoint)).toEqual({ ok: true });
    const { id } = await page.post('/api/user/models', {
      ...endpoint,
      display_name: 'Mine',
      description: '',
      capabilities,
      enabled: true,
    });
    const at = `/api/user/models/${String(id)}`;
    expect(await page.patch(at, { display_name: 'My own' })).toMatchObject({ id, display_name: 'My own', source: 'user' });
    expect(await page.post(`${at}/test`)).toEqual({ ok: true });
    expect(JSON.stringify(await page.get('/api/user/models'))).not.toContain('sk-mine');
    await page.delete(at);
  });

  it('the pages of analytics and logs show what was asked', async () => {
    const page = ground();
    const agent = await page.post('/api/create_agent', AGENT);
    await page.text({
      method: 'POST',
      path: '/stream',
      body: { question: 'Counted?', agent_id: agent['id'], visibility: 'listed' },
    });
    const about = { api_key_id: agent['id'], filter_option: 'last_7_days' };
    const sum = (counts: unknown) => Object.values(counts as Record<string, number>).reduce((total, each) => total + each, 0);
    const { messages } = await page.post('/api/get_message_analytics', about);
    expect([Object.keys(messages as Json).length, sum(messages)]).toEqual([7, 1]);
    const tokens = { ...about, group_by: 'model', include_side_channel: false };
    expect(await page.post('/api/get_token_analytics', tokens)).toMatchObject({
      group_by: 'model',
      token_usage: expect.anything(),
      series: expect.anything(),
    });
    const { feedback } = await page.post('/api/get_feedback_analytics', about);
    expect(Object.values(feedback as Json)[0]).toEqual({ positive: 0, negative: 0 });
    expect(await page.post('/api/get_tool_analytics', about)).toEqual({ success: true, tools: [] });
    const { runs } = await page.post('/api/get_schedule_analytics', about);
    expect(Object.values(runs as Json)[0]).toEqual({ completed: 0, failed: 0, skipped: 0 });
    const logs = await page.post<{ logs: Json[] }>('/api/get_user_logs', { page: 1, api_key_id: agent['id'], page_size: 10 });
    expect(logs).toMatchObject({ success: true, page: 1, page_size: 10, has_more: false, logs: [{ question: 'Counted?' }] });
  });

  it('the page of devices pairs one, configures it, shows what it ran and revokes it', async () => {
    const page = ground();
    const pairing = await page.post('/api/devices/pairings', { name: 'Build', approval_mode: 'ask' });
    const at = `/api/devices/pairings/${String(pairing['device_code'])}`;
    expect(await page.get(at)).toMatchObject({ status: 'pending', device_id: null });
    const { id } = await ReferenceDevice.paired(page.world.service.url, String(pairing['user_code']));
    expect(await page.get(at)).toMatchObject({ status: 'redeemed', device_id: id });
    await eventually(async () => JSON.stringify(await page.get('/api/devices')).includes(id));
    const device = `/api/devices/${id}`;
    expect(await page.patch(device, { approval_mode: 'full' })).toMatchObject({ id, approval_mode: 'full' });
    const { pattern } = await page.post(`${device}/auto-approve`, { command: 'git status' });
    expect(await page.get(`${device}/auto-approve`)).toEqual({ patterns: [pattern] });
    expect(await page.delete(`${device}/auto-approve`, { pattern })).toEqual({ success: true });
    expect(await page.get(`${device}/audit`)).toEqual({ entries: [] });
    expect(await page.delete(device)).toEqual({ success: true });
    const other = await page.post('/api/devices/pairings', { approval_mode: 'ask' });
    expect(await page.delete(`/api/devices/pairings/${String(other['device_code'])}`)).toEqual({ success: true });
  });

  it('the pages of the account show the user and the usage', async () => {
    const page = ground();
    expect(await page.get('/api/user/me')).toMatchObject({ success: true, user_id: expect.any(String), roles: ['user'] });
    expect(await page.get('/api/user/quota')).toMatchObject({ success: true, buckets: expect.any(Array) });
    expect(await page.get('/api/user/sessions')).toMatchObject({ success: true, sessions: expect.any(Array) });
  });

  it('the pages of keys and tokens create them, show them once, renew and delete them', async () => {
    const page = ground();
    const made = await page.post('/api/create_api_key', { name: 'Shop', source: '', prompt_id: 'default', chunks: '2' });
    expect(made).toMatchObject({ id: expect.any(String), key: expect.any(String) });
    const keys = await page.get<Json[]>('/api/get_api_keys');
    expect(keys.find(({ id }) => id === made['id'])).toMatchObject({
      name: 'Shop',
      key: expect.not.stringMatching(`^${String(made['key'])}$`),
    });
    expect(await page.post('/api/delete_api_key', { id: made['id'] })).toMatchObject({ status: 'ok' });
    const wanted = { name: 'Import', scopes: ['sources:write'], expires_in_days: 30 };
    const { token, personal_access_token: record } = await page.post<{ token: string; personal_access_token: Json }>(
      '/api/user/tokens',
      wanted,
    );
    expect([token, record]).toEqual([
      expect.stringMatching(/^dgpt_pat_/),
      expect.objectContaining({ name: 'Import', status: 'active' }),
    ]);
    const at = `/api/user/tokens/${String(record['id'])}`;
    expect(await page.post(`${at}/regenerate`, { expires_in_days: 60 })).toMatchObject({
      success: true,
      token: expect.not.stringMatching(token),
    });
    expect(await page.get('/api/user/tokens')).toMatchObject({
      success: true,
      tokens: [{ id: record['id'] }],
      scopes: expect.any(Array),
    });
    expect(await page.delete(at)).toEqual({ success: true });
  });
}

const AGENT = {
  name: 'Counted',
  description: 'Counts',
  chunks: '2',
  retriever: 'classic',
  prompt_id: 'default',
  status: 'published',
};
