import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { agentFile, FilesService, type Json, type User } from '../../../../test/support/agent-files.js';
import { FUZZ_RUNS } from '../../../../test/support/fuzz-runs.js';

let service: FilesService;
beforeAll(async () => {
  service = await FilesService.start();
});
afterAll(() => service.close());

const text = (maxLength: number) =>
  fc.string({ unit: 'grapheme', maxLength }).map((value) => value.replace(/\p{Cc}/gu, ' ').trim());
const named = text(40).map((value) => `A${value}`);
const limit = fc.option(fc.integer({ min: 1, max: 1_000_000 }), { nil: undefined });
const control = fc.record({
  check: fc.constantFrom('pii', 'secrets'),
  stage: fc.constantFrom('input', 'retrieval', 'tool_result', 'output'),
  action: fc.constantFrom('flag', 'redact', 'block'),
  enabled: fc.boolean(),
});
const guardrails = fc.record({
  enabled: fc.boolean(),
  mode: fc.constantFrom('monitor_only', 'scan_all'),
  fail_open: fc.boolean(),
  timeout_ms: fc.integer({ min: 100, max: 60_000 }),
  controls: fc.uniqueArray(control, { maxLength: 4, selector: ({ check, stage }) => `${check} ${stage}` }),
});
const SCHEMA = { type: 'object', properties: { days: { type: 'integer' } }, required: ['days'] };

/** The content of a file for an agent that refers to none of its owner's resources except a prompt. */
const spec = fc
  .record({
    name: named,
    description: text(200),
    agent_type: fc.constantFrom('classic', 'agentic', 'research'),
    chunks: fc.option(fc.integer({ min: 0, max: 500 })),
    prompt: fc.oneof(
      fc.constant('default'),
      fc.record({
        name: named,
        content: fc.array(text(60), { minLength: 1, maxLength: 4 }).map((lines) => `Be ${lines.join('\n')}`),
      }),
    ),
    tools: fc.subarray([{ type: 'memory', builtin: true }]),
    json_schema: fc.constantFrom(null, SCHEMA),
    allow_system_prompt_override: fc.boolean(),
    mcp_ask: fc.boolean(),
    guardrails: fc.option(guardrails, { nil: undefined }),
    tokens: limit,
    requests: limit,
  })
  .map(({ guardrails: rules, tokens, requests, ...rest }) => ({
    ...rest,
    limits: {
      limited_token_mode: tokens !== undefined,
      token_limit: tokens ?? null,
      limited_request_mode: requests !== undefined,
      request_limit: requests ?? null,
    },
    config: rules ? { guardrails: rules } : {},
  }));

const specOf = (file: string) => (load(file) as { spec: Json }).spec;
/** The file without the ids of the service that wrote it. */
const withoutIds = (file: string) => file.replace(/^ *(id|slug|ref): .*\n/gm, '');
it('a generated agent is exported equally after another user imports its file, and its owner’s import changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(spec, async (asked) => {
      const [owner, stranger] = [await service.newUser('owner'), await service.newUser('stranger')];
      const made = await service.import(owner, agentFile(asked));
      expect([made.status, made.body['warnings']]).toEqual([200, []]);
      const first = await service.export(owner, made.body['agent_id']);
      const { limits: _, config: __, tools: ___, ...plain } = asked;
      expect(specOf(first)).toMatchObject(plain);
      const taken = await service.import(stranger, first);
      expect([taken.status, taken.body['warnings']]).toEqual([200, []]);
      expect(withoutIds(await service.export(stranger, taken.body['agent_id']))).toBe(withoutIds(first));
      const before = await service.events();
      expect((await service.import(owner, first)).body).toMatchObject({ success: true, action: 'updated' });
      expect(await service.events()).toBe(before);
    }),
    { numRuns: Math.ceil(FUZZ_RUNS / 10) },
  );
});

describe('the file of an agent', () => {
  const made = async (owner: User, path: string, body: object) => {
    const reply = await service.send(owner, 'POST', path, body);
    expect([path, reply.status < 300 ? 'made' : reply.text]).toEqual([path, 'made']);
    return (reply.body['id'] ?? (reply.body['data'] as Json | undefined)?.['id']) as string;
  };
  const model = (owner: User, upstream: string) =>
    made(owner, '/api/user/models', {
      display_name: 'Twin',
      upstream_model_id: upstream,
      base_url: 'http://127.0.0.1:9/v1',
      api_key: 'k',
    });
  const changesNothing = async (owner: User, id: string) => {
    const file = await service.export(owner, id);
    const before = await service.events();
    expect((await service.import(owner, file)).body).toMatchObject({ success: true, action: 'updated', agent_id: id });
    expect(await service.events()).toBe(before);
    return file;
  };

  it('changes nothing if models have the same name, in the list, in nodes or only as the default', async () => {
    const owner = await service.newUser('owner');
    const [one, other] = [await model(owner, 'one'), await model(owner, 'other')];
    const both = { name: 'Both', models: [one, other], default_model_id: other };
    const alone = { name: 'Alone', models: [], default_model_id: other };
    for (const fields of [both, alone]) await changesNothing(owner, await service.makeAgent(owner, fields));
    const agentNode = (id: string, model_id: string) => ({ id, type: 'agent', data: { model_id } });
    const nodes = [{ id: 'start', type: 'start' }, agentNode('a', one), agentNode('b', other), { id: 'end', type: 'end' }];
    const edges = nodes.slice(1).map(({ id }, at) => ({ id: `e${at}`, source: nodes[at]!.id, target: id }));
    const workflow = await made(owner, '/api/workflows', { name: 'Twins', nodes, edges });
    await changesNothing(owner, await service.makeAgent(owner, { name: 'Twins', agent_type: 'workflow', workflow }));
  });

  it('changes nothing if the agent has no retriever', async () => {
    const owner = await service.newUser('owner');
    const id = await service.makeAgent(owner, { name: 'None', retriever: 'classic' });
    expect((await service.send(owner, 'PUT', `/api/update_agent/${id}`, { retriever: '' })).status).toBe(200);
    expect(await changesNothing(owner, id)).toContain('retriever: classic');
  });
});
