import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, type Streamed } from '../support/client.js';
import { say } from '../support/scripted-model-server.js';
import { addedSource } from '../support/sources.js';
import { chain, node } from '../support/workflow-graphs.js';
import { openWorld, type World } from '../support/world.js';

type Json = Record<string, unknown>;

/** A graph as the incumbent's web client holds it: the settings of a node are flat in its `data`. */
const GRAPH = chain(
  node('start', 'start'),
  node('agent', 'agent_1', {
    agent_type: 'classic',
    system_prompt: 'You are a helpful assistant.',
    prompt_template: '',
    stream_to_user: true,
    tools: [],
    sources: [],
    chunks: '2',
    retriever: '',
    model_id: '',
  }),
  node('end', 'end', { output_template: '' }),
);
const WORKFLOW = { name: 'Draft', description: '', ...GRAPH };

/** What the agent pages of the incumbent's web client send, and which fields of responses they read. */
export function webClientBuilderStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  const bodyOf = async (response: Response) => {
    const body = (await response.json()) as Json;
    return { status: response.status, body };
  };
  const preview = (more: object = {}): Promise<Streamed> => {
    const asked = { question: 'Why?', workflow: WORKFLOW, save_conversation: false, visibility: 'hidden' };
    return world.alice.stream({ ...asked, ...more });
  };
  const runIn = ({ frames }: Streamed) =>
    frames.find(({ data }) => data.type === 'workflow_run')!.data['workflow_run_id'] as string;
  const stepsIn = ({ frames }: Streamed) =>
    frames
      .filter(({ data }) => data.type === 'workflow_step')
      .map(({ data }) => `${String(data['node_id'])} ${String(data['status'])}`);

  describe('the preview of the workflow builder', () => {
    it('runs an unsaved graph step by step, and lists no conversation', async () => {
      world.model.next(say('Because ', 'it is.'));
      const shown = await preview();
      expect(stepsIn(shown)).toEqual(['start', 'agent_1', 'end'].flatMap((id) => [`${id} running`, `${id} completed`]));
      expect(answerIn(shown)).toBe('Because it is.');
      expect(shown.frames.at(-1)!.data.type).toBe('end');
      const step = shown.frames.find(({ data }) => data['node_id'] === 'agent_1' && data['status'] === 'completed')!.data;
      expect(step).toMatchObject({
        node_type: 'agent',
        node_title: 'agent_1',
        output: 'Because it is.',
        state_delta: expect.anything(),
      });
      expect(await world.alice.json<unknown[]>('/api/get_conversations')).toEqual([]);
      const artifacts = await world.alice.get(`/api/artifacts?workflow_run_id=${runIn(shown)}`);
      // The client treats 403 as an empty list.
      expect([200, 403]).toContain(artifacts.status);
    });

    it('runs the shown graph of a saved workflow, and records the run', async () => {
      const saved = await bodyOf(await world.alice.post('/api/workflows', WORKFLOW));
      const { id } = saved.body['data'] as { id: string };
      world.model.next(say('Saved.'));
      const shown = await preview({ workflow_id: id });
      expect(answerIn(shown)).toBe('Saved.');
      const record = await world.alice.json<Json>(`/api/workflow_runs/${runIn(shown)}`);
      expect(JSON.stringify(record)).toContain('"completed"');
      const artifacts = await world.alice.json<Json>(`/api/artifacts?workflow_run_id=${runIn(shown)}`);
      expect(artifacts).toMatchObject({ success: true, artifacts: [] });
    });

    it('reports all problems of an invalid graph', async () => {
      const reply = await bodyOf(await world.alice.post('/api/workflows', { name: 'Broken', nodes: [], edges: [] }));
      expect(reply).toMatchObject({ status: 400, body: { success: false, error: 'Workflow validation failed' } });
      expect((reply.body['errors'] as string[]).length).toBeGreaterThan(0);
    });
  });

  it('the import dialog shows a plan of an exported file, and imports it with the chosen mappings', async () => {
    const source = await addedSource(world.alice, 'Handbook', '# Parking\n\nThe garage opens at six.');
    const agent = await world.agent({ source, name: 'Porter' });
    const yaml = (await (await world.alice.get(`/api/export_agent?id=${agent.id}`)).text()).replace(
      'name: Handbook',
      'name: Manual',
    );
    const { body: planned } = await bodyOf(await world.alice.post('/api/import_agent/plan', { yaml }));
    const plan = planned['plan'] as { target: Json; sources: Json[]; tools: Json[]; models: Json[]; prompt: Json };
    expect(plan.target).toMatchObject({ action: 'update', matched_by: 'id', agent_id: agent.id });
    expect(plan.sources).toMatchObject([{ name: 'Manual', status: 'missing' }]);
    expect([plan.tools, plan.models].every(Array.isArray)).toBe(true);
    const resolution = { sources: { Manual: source }, tools: {}, models: {} };
    const { body: imported } = await bodyOf(await world.alice.post('/api/import_agent', { yaml, resolution }));
    expect(imported).toMatchObject({
      success: true,
      agent_id: agent.id,
      agent_type: 'classic',
      status: 'published',
      warnings: [],
    });
    const { body: refused } = await bodyOf(await world.alice.post('/api/import_agent/plan', { yaml: 'no: agent' }));
    expect(refused).toMatchObject({ success: false, message: expect.any(String) as unknown });
  });

  it('the page of models lists, tests, changes and deletes models of the user', async () => {
    const model = {
      upstream_model_id: 'scripted',
      display_name: 'Mine',
      description: '',
      base_url: 'https://models.example/v1',
      api_key: 'sk-mine',
      capabilities: { supports_tools: true, supports_structured_output: false, attachments: [], context_window: 128000 },
      enabled: true,
    };
    const created = await bodyOf(await world.alice.post('/api/user/models', model));
    const { api_key: _, ...shown } = model;
    if (created.status >= 400) expect(created.body).toEqual({});
    expect(created.body).toMatchObject({ ...shown, source: 'user' });
    const { id } = created.body as { id: string };
    const listed = await world.alice.json<Json | Json[]>('/api/user/models');
    const all = Array.isArray(listed) ? listed : (listed['models'] as Json[]);
    expect(all).toMatchObject([{ id, display_name: 'Mine' }]);
    expect(JSON.stringify(all)).not.toContain('sk-mine');
    const offered = await world.alice.json<{ models: Json[] }>('/api/models');
    expect(offered.models).toContainEqual(expect.objectContaining({ id, display_name: 'Mine', source: 'user' }));
    const changed = await bodyOf(await world.alice.patch(`/api/user/models/${id}`, { display_name: 'Ours', enabled: false }));
    expect(changed.body).toMatchObject({ id, display_name: 'Ours', enabled: false });
    expect((await world.alice.delete(`/api/user/models/${id}`)).ok).toBe(true);
  });

  it('the guardrails of an agent are saved as the settings page sends them, and read back', async () => {
    const catalog = await world.alice.json<Json>('/api/guardrails/catalog');
    expect(catalog).toMatchObject({ success: true, floor: null });
    const checks = catalog['checks'] as Json[];
    for (const field of [
      'name',
      'label',
      'description',
      'stages',
      'supports_redaction',
      'latency_hint_ms',
      'remote',
      'available',
    ])
      expect(checks.every((check) => field in check)).toBe(true);
    const guardrails = {
      enabled: true,
      mode: 'scan_all',
      fail_open: true,
      timeout_ms: 2000,
      block_message: "Sorry, I can't help with that request.",
      controls: [
        {
          check: 'pii',
          stage: 'output',
          action: 'redact',
          enabled: true,
          settings: { entities: catalog['default_pii_entities'] },
        },
        { check: 'secrets', stage: 'input', action: 'flag', enabled: true, settings: {} },
      ],
    };
    const agent = await world.agent();
    const saved = await world.alice.put(`/api/update_agent/${agent.id}`, { config: { guardrails } });
    expect(saved.status).toBe(200);
    expect(await world.alice.json(`/api/get_agent?id=${agent.id}`)).toMatchObject({ config: { guardrails } });
    const incomplete = {
      ...guardrails,
      controls: [{ check: 'denylist', stage: 'input', action: 'flag', enabled: true, settings: {} }],
    };
    const refused = await bodyOf(await world.alice.put(`/api/update_agent/${agent.id}`, { config: { guardrails: incomplete } }));
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('Invalid config') as unknown } });
  });
}
