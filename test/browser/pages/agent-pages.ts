import { describe, expect, it } from '@jest/globals';
import { framesIn } from '../../support/client.js';
import { pngFile } from '../../support/picture-files.js';
import { chain, node } from '../../support/workflow-graphs.js';
import { file, type Ground, type Json } from './ground.js';

/** The form of the builder, in which every field is text. */
const FORM = {
  ...{ name: 'Porter', description: 'Knows the house', source: '', sources: '[]', chunks: '2', retriever: 'classic' },
  ...{ prompt_id: 'default', agent_type: 'classic', config: '{}', tools: '[]', models: '[]', default_model_id: '' },
  ...{ limited_token_mode: 'False', token_limit: '0', limited_request_mode: 'True', request_limit: '500' },
  ...{ allow_system_prompt_override: 'False' },
};

const AGENT = {
  type: 'agent',
  id: 'agent_1',
  data: { agent_type: 'classic', system_prompt: '', stream_to_user: true, tools: [] },
};
const GRAPH = chain(node('start'), node(AGENT.type, AGENT.id, AGENT.data), node('end'));

/** The pages of agents: the list with folders, the builder, the dialogs, and the builder of workflows. */
export function agentPages(ground: () => Ground): void {
  const made = async (form: Readonly<Record<string, string>> = {}): Promise<string> =>
    String((await ground().send('/api/create_agent', { ...FORM, status: 'published', ...form }))['id']);

  describe('the pages of agents', () => {
    it('create one: as a draft, then published with a picture and shown', async () => {
      const page = ground();
      const draft = await page.send('/api/create_agent', { ...FORM, status: 'draft' });
      expect(draft).toMatchObject({ id: expect.any(String), key: '' });
      const image = file('porter.png', 'image/png', pngFile('porter.png').bytes);
      const path = `/api/update_agent/${String(draft['id'])}`;
      const published = await page.send(path, { ...FORM, image, status: 'published', chunks: '4' }, 'PUT');
      expect(published).toMatchObject({ success: true, id: draft['id'], key: expect.stringMatching(/.{36}/) });
      const shown = await page.get(`/api/get_agent?id=${String(draft['id'])}`);
      expect(shown).toMatchObject({
        ...{ name: 'Porter', status: 'published', chunks: '4', agent_type: 'classic', tools: [], sources: [], config: {} },
        image: expect.stringContaining('/api/images/'),
        ...{ limited_request_mode: true, request_limit: 500, limited_token_mode: false, key: expect.stringContaining('...') },
      });
    });

    it('list, pin, move into folders, copy and delete them', async () => {
      const page = ground();
      const id = await made({ name: 'Pinned' });
      const folder = await page.post('/api/agents/folders/', { name: 'House' });
      expect(await page.post('/api/agents/folders/move_agent', { agent_id: id, folder_id: folder['id'] })).toEqual({
        success: true,
      });
      expect(await page.get('/api/agents/folders/')).toMatchObject({
        folders: [{ id: folder['id'], name: 'House', parent_id: null }],
      });
      const at = `/api/agents/folders/${String(folder['id'])}`;
      expect(await page.get(at)).toMatchObject({ agents: [{ id, name: 'Pinned' }], subfolders: [] });
      expect(await page.put(at, { name: 'Home' })).toEqual({ success: true });
      expect(await page.post(`/api/pin_agent?id=${id}`)).toEqual({ success: true, action: 'pinned' });
      expect(await page.get('/api/pinned_agents')).toMatchObject([{ id, pinned: true }]);
      const listed = await page.get<Json[]>('/api/get_agents');
      expect(listed.find((agent) => agent['id'] === id)).toMatchObject({ name: 'Pinned', folder_id: folder['id'], pinned: true });
      expect(await page.get('/api/template_agents')).toEqual([]);
      expect(await page.get('/api/shared_agents')).toEqual([]);
      expect(await page.delete(at)).toEqual({ success: true });
      expect(await page.delete(`/api/delete_agent?id=${id}`)).toEqual({ id });
    });

    it('show how to reach one, and change its key', async () => {
      const page = ground();
      const id = await made();
      const { webhook_url: url } = await page.get(`/api/agent_webhook?id=${id}`);
      expect(url).toMatch(/\/api\/webhooks\/agents\/.+/);
      expect(await page.post(`/api/regenerate_agent_key/${id}`)).toMatchObject({ success: true, key: expect.any(String) });
      const shared = await page.put('/api/share_agent', { id, shared: true, username: 'Alice' });
      expect(shared).toMatchObject({ success: true, shared_token: expect.any(String) });
      expect(await page.get(`/api/shared_agent?token=${String(shared['shared_token'])}`)).toMatchObject({ id, name: 'Porter' });
    });

    it('schedule one, and pause, resume, run and cancel the schedule', async () => {
      const page = ground();
      const id = await made();
      const plan = { name: 'Yearly', instruction: 'Report.', trigger_type: 'recurring', cron: '0 8 1 1 *', timezone: 'UTC' };
      const { schedule } = await page.post<{ schedule: Json }>(`/api/agents/${id}/schedules`, plan);
      expect(schedule).toMatchObject({ ...plan, agent_id: id, status: 'active', created_via: 'ui' });
      expect(await page.get(`/api/agents/${id}/schedules`)).toMatchObject({ schedules: [{ id: schedule['id'] }] });
      const at = `/api/schedules/${String(schedule['id'])}`;
      expect(await page.put(at, { instruction: 'Report more.' })).toMatchObject({ schedule: { instruction: 'Report more.' } });
      expect(await page.patch(at, { action: 'pause' })).toMatchObject({ schedule: { status: 'paused', next_run_at: null } });
      expect(await page.patch(at, { action: 'resume' })).toMatchObject({ schedule: { status: 'active' } });
      const { run } = await page.post<{ run: Json }>(`${at}/run`);
      expect(run).toMatchObject({ schedule_id: schedule['id'], trigger_source: 'manual' });
      expect(await page.get(`${at}/runs?limit=50&offset=0`)).toMatchObject({ runs: [{ id: run['id'] }], limit: 50, offset: 0 });
      expect(await page.get(`${at}/runs/${String(run['id'])}`)).toMatchObject({ run: { id: run['id'] } });
      expect(await page.delete(at)).toEqual({ success: true });
    });

    it('set guardrails, and show their findings', async () => {
      const page = ground();
      const catalog = await page.get('/api/guardrails/catalog');
      expect(catalog).toMatchObject({ success: true, modes: ['monitor_only', 'scan_all'], floor: null });
      const control = { check: 'secrets', stage: 'input', action: 'flag', enabled: true, settings: {} };
      const guardrails = { enabled: true, mode: 'scan_all', fail_open: true, controls: [control] };
      const id = await made({ config: JSON.stringify({ guardrails }) });
      expect(await page.get(`/api/get_agent?id=${id}`)).toMatchObject({ config: { guardrails: { enabled: true } } });
      expect(await page.get(`/api/guardrails/events?agent_id=${id}&limit=100&offset=0`)).toEqual({ success: true, events: [] });
      expect(await page.get(`/api/guardrails/summary?days=30&agent_id=${id}`)).toMatchObject({
        breakdown: [],
        totals: { blocked: 0 },
      });
    });

    it('import the exported file, whose name the page may read', async () => {
      const page = ground();
      const id = await made({ name: 'Traveller' });
      const { text: yaml, disposition } = await page.web.call({ method: 'GET', path: `/api/export_agent?id=${id}` });
      expect(disposition).toContain('filename="traveller.agent.yaml"');
      const { plan } = await page.post<{ plan: Json }>('/api/import_agent/plan', { yaml });
      expect(plan).toMatchObject({
        ...{ target: { action: 'update', agent_id: id, matched_by: 'id', status: 'published' }, workflow: null },
        ...{ sources: [], tools: [], models: [], prompt: { status: 'default' } },
      });
      const imported = await page.post('/api/import_agent', { yaml, resolution: { sources: {}, tools: {}, models: {} } });
      expect(imported).toMatchObject({ success: true, agent_id: id, action: 'updated', warnings: [] });
    });
  });

  describe('the builder of workflows', () => {
    it('saves a graph, shows it, previews it and publishes it as an agent', async () => {
      const page = ground();
      const graph = { name: 'Answer', description: '', ...GRAPH };
      const { data } = await page.post<{ data: Json }>('/api/workflows', graph);
      const at = `/api/workflows/${String(data['id'])}`;
      expect(await page.put(at, { ...graph, name: 'Answer all' })).toMatchObject({ success: true });
      const shown = await page.get<{ data: Json }>(at);
      expect(shown.data).toMatchObject({
        workflow: { id: data['id'], name: 'Answer all' },
        nodes: [{ id: 'start' }, { id: 'agent_1' }, { id: 'end' }],
      });
      const body = { question: 'Why?', workflow: graph, workflow_id: data['id'], save_conversation: false, visibility: 'hidden' };
      const frames = framesIn(await page.text({ method: 'POST', path: '/stream', body }));
      const run = frames.find(({ data: { type } }) => type === 'workflow_run')!.data['workflow_run_id'] as string;
      const steps = frames.filter(({ data: { type } }) => type === 'workflow_step').map(({ data: step }) => step['status']);
      expect(steps).toEqual(Array(3).fill(['running', 'completed']).flat());
      expect(await page.get(`/api/artifacts?workflow_run_id=${run}`)).toEqual({ success: true, artifacts: [] });
      const agent = await made({ name: 'Flow', agent_type: 'workflow', workflow: JSON.stringify(data['id']) });
      expect(await page.get(`/api/get_agent?id=${agent}`)).toMatchObject({ agent_type: 'workflow', workflow: data['id'] });
      expect(await page.delete(`/api/delete_agent?id=${agent}`)).toEqual({ id: agent });
    });
  });
}
