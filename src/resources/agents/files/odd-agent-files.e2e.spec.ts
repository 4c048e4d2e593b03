import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { agentFile, FilesService, type User } from '../../../../test/support/agent-files.js';
import { BOUNDARY, fileHead } from '../../../../test/support/raw-upload.js';

let service: FilesService;
let alice: User;
beforeAll(async () => {
  service = await FilesService.start({ ALLOWED_PRIVATE_HOSTS: '' });
  alice = await service.newUser('alice');
});
afterAll(() => service.close());

const valid = { apiVersion: 'docsgpt.arc53.com/v1', kind: 'Agent', spec: { name: 'Guide' } };
const text = (value: unknown) => JSON.stringify(value);
const many = <T>(count: number, entry: T): T[] => Array.from({ length: count }, () => entry);
const node = (id: string, type: string, config: object = {}) => ({ id, type, config });
const graph = (nodes: object[], edges: object[] = []) => agentFile({ agent_type: 'workflow', workflow: { nodes, edges } });

/** Files that are answered with 400, with the message. */
const REFUSED: readonly (readonly [string, string | Buffer, string | RegExp])[] = [
  ['nothing', '', 'Top-level YAML must be a mapping'],
  ['a list', '- a', 'Top-level YAML must be a mapping'],
  ['text', 'just words', 'Top-level YAML must be a mapping'],
  ['no kind', text({ ...valid, kind: undefined }), /^Unsupported kind .*; expected 'Agent'$/],
  ['another kind', text({ ...valid, kind: 'Tool' }), "Unsupported kind 'Tool'; expected 'Agent'"],
  ['a kind that is not a string', text({ ...valid, kind: ['Agent'] }), /^Unsupported kind/],
  ['no version', text({ ...valid, apiVersion: undefined }), /^Unsupported apiVersion/],
  ['a foreign version', text({ ...valid, apiVersion: 'v1' }), "Unsupported apiVersion 'v1'"],
  ['a version that is a number', text({ ...valid, apiVersion: 1 }), "Unsupported apiVersion '1'"],
  ['no spec', text({ ...valid, spec: undefined }), "Missing or invalid 'spec'"],
  ['a spec that is a list', text({ ...valid, spec: [] }), "Missing or invalid 'spec'"],
  ['no name', text({ ...valid, spec: {} }), 'spec.name is required'],
  ['a blank name', agentFile({ name: '  ' }), 'spec.name is required'],
  ['a name that is a list', agentFile({ name: ['a'] }), 'spec.name must be text'],
  ['a name that is too long', agentFile({ name: 'x'.repeat(201) }), 'spec.name must have at most 200 characters'],
  ['metadata that is a list', text({ ...valid, metadata: ['x'] }), 'metadata must be a mapping'],
  ['a slug that is a mapping', agentFile({}, { slug: {} }), 'metadata.slug must be text'],
  ['an unknown type', agentFile({ agent_type: 'oracle' }), /^agent_type must be one of/],
  ['chunks that are words', agentFile({ chunks: 'many' }), 'spec.chunks must be a whole number of at least 0'],
  ['negative chunks', agentFile({ chunks: -1 }), 'spec.chunks must be a whole number of at least 0'],
  ['a prompt that is a number', agentFile({ prompt: 7 }), "spec.prompt must be 'default' or a mapping with name and content"],
  ['an unknown prompt', agentFile({ prompt: 'loud' }), "spec.prompt must be 'default' or a mapping with name and content"],
  ['a prompt without content', agentFile({ prompt: { name: 'x' } }), 'spec.prompt.content is required'],
  ['a model that is a list', agentFile({ model: [] }), 'spec.model must be a mapping'],
  ['models that are text', agentFile({ model: { available: 'gpt' } }), 'spec.model.available must be a list'],
  [
    'a model that is a number',
    agentFile({ model: { available: [1] } }),
    'spec.model.available[0] must be the id of a model or a mapping',
  ],
  [
    'a custom model without URL',
    agentFile({ model: { available: [{ type: 'custom', display_name: 'x', upstream_model_id: 'y' }] } }),
    'spec.model.available[0].base_url is required',
  ],
  ['too many models', agentFile({ model: { available: many(101, 'm') } }), 'Too many models (max 100)'],
  ['sources that are text', agentFile({ sources: 'all' }), 'spec.sources must be a list'],
  ['a source that is text', agentFile({ sources: ['x'] }), 'spec.sources[0] must be a mapping'],
  ['a source without name', agentFile({ sources: [{ type: 'file' }] }), 'spec.sources[0].name is required'],
  ['too many sources', agentFile({ sources: many(101, { name: 's' }) }), 'Too many sources (max 100)'],
  ['a tool that is text', agentFile({ tools: ['memory'] }), 'spec.tools[0] must be a mapping'],
  ['a tool without type', agentFile({ tools: [{ name: 'x' }] }), 'spec.tools[0].type is required'],
  [
    'a configuration that is a list',
    agentFile({ tools: [{ type: 'ntfy', config: [] }] }),
    'spec.tools[0].config must be a mapping',
  ],
  [
    'secrets that are not names',
    agentFile({ tools: [{ type: 'ntfy', requires_secrets: [1] }] }),
    'spec.tools[0].requires_secrets must be a list of names',
  ],
  ['too many tools', agentFile({ tools: many(101, { type: 'x' }) }), 'Too many tools (max 100)'],
  [
    'too many actions',
    agentFile({
      tools: [{ type: 'api_tool', config: { actions: Object.fromEntries(many(101, '').map((_, n) => [`a${n}`, {}])) } }],
    }),
    'Too many api_tool actions (max 100)',
  ],
  [
    'an action without name',
    agentFile({ tools: [{ type: 'ntfy', actions: [{}] }] }),
    'spec.tools[0].actions[0].name is required',
  ],
  [
    'a limit that is text',
    agentFile({ limits: { token_limit: 'much' } }),
    'spec.limits.token_limit must be a whole number of at least 0',
  ],
  [
    'a limit of 0',
    agentFile({ limits: { limited_token_mode: true, token_limit: 0 } }),
    /^spec\.limits\.token_limit must be greater than 0/,
  ],
  ['an invalid schema', agentFile({ json_schema: { a: 1 } }), /^Invalid JSON schema/],
  ['a config that is a list', agentFile({ config: [] }), 'spec.config must be a mapping'],
  [
    'a flag that is text',
    agentFile({ allow_system_prompt_override: 'yes' }),
    'spec.allow_system_prompt_override must be true or false',
  ],
  [
    'the key __proto__',
    '{"apiVersion":"docsgpt.v1","kind":"Agent","spec":{"name":"x","config":{"__proto__":{"a":1}}}}',
    /__proto__/,
  ],
  [
    'a number that JSON cannot represent',
    'apiVersion: docsgpt.v1\nkind: Agent\nspec: {name: x, config: {a: .nan}}',
    'spec.config contains a number that JSON cannot represent',
  ],
  ['a workflow that is text', agentFile({ agent_type: 'workflow', workflow: 'x' }), 'spec.workflow must be a mapping'],
  [
    'a workflow without lists',
    agentFile({ agent_type: 'workflow', workflow: {} }),
    'spec.workflow.nodes and spec.workflow.edges must be lists',
  ],
  ['a node without type', graph([{ id: 'a' }]), "Every workflow node needs an 'id' and a 'type'"],
  ['an edge without id', graph([node('a', 'start')], [{ source: 'a' }]), "Every workflow edge needs an 'id'"],
  ['too many nodes', graph(many(201, node('a', 'note'))), 'Too many workflow nodes (max 200)'],
  ['too many edges', graph([node('a', 'start')], many(401, { id: 'e' })), 'Too many workflow edges (max 400)'],
  ['a broken graph', graph([node('a', 'start')]), /^Workflow validation failed: /],
  ['an anchor', 'apiVersion: docsgpt.v1\nkind: Agent\nspec: &x {name: a}', 'YAML anchors/aliases are not allowed'],
  [
    'nested aliases that multiply',
    `a0: &a0 lol\n${Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array.from({ length: 9 }, () => `*a${n}`).join(', ')}]`).join('\n')}`,
    'YAML anchors/aliases are not allowed',
  ],
  ['a tag', 'apiVersion: docsgpt.v1\nkind: Agent\nspec: {name: !!js/function "x"}', 'YAML tags and directives are not allowed'],
  ['two documents', 'kind: Agent\n---\nkind: Agent', 'The text must hold one YAML document'],
  ['invalid YAML', 'kind: [Agent', /^Invalid YAML: /],
  ['a doubled key', 'kind: Agent\nkind: Agent', /^Invalid YAML: /],
  ['invalid UTF-8', Buffer.from([0x6b, 0xff, 0x3a]), 'The request body is not valid UTF-8.'],
  ['more than 512 KiB', `kind: Agent\n#${'x'.repeat(512 * 1024)}`, 'Import document too large'],
];

describe('a file is refused', () => {
  it.each(REFUSED)('with %s', async (_, file, message) => {
    const before = await service.events();
    for (const path of ['/api/import_agent/plan', '/api/import_agent']) {
      const reply = await service.send(alice, 'POST', path, file, { 'content-type': 'application/yaml' });
      expect([reply.status, reply.body]).toEqual([400, expect.objectContaining({ success: false })]);
      expect(reply.body['message']).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    }
    expect(await service.events()).toBe(before);
  });

  it.each(['multipart/form-data', `multipart/form-data; boundary=${BOUNDARY}`])(
    'in an incomplete form of the type %s',
    async (type) => {
      for (const path of ['/api/import_agent/plan', '/api/import_agent']) {
        const reply = await service.send(alice, 'POST', path, `${fileHead()}half`, { 'content-type': type });
        expect([reply.status, reply.body['message']]).toEqual([400, 'The form is incomplete.']);
      }
    },
  );

  it('with a lone surrogate, as a form without a file, and as a number', async () => {
    const yaml = JSON.stringify(agentFile({ name: 'x' }))
      .replace('Guide', '\\ud800')
      .replace('"name\\":\\"x', '"name\\":\\"\\ud800');
    const halved = await service.send(alice, 'POST', '/api/import_agent', `{"yaml":${yaml}}`, {
      'content-type': 'application/json',
    });
    expect([halved.status, halved.body['message']]).toEqual([400, 'The file is not valid UTF-8']);
    const form = new FormData();
    form.append('other', new Blob(['x']), 'x.yaml');
    const none = await service.send(alice, 'POST', '/api/import_agent', form);
    expect([none.status, none.body['message']]).toEqual([400, "No file was given: send it as 'file'"]);
    const number = await service.send(alice, 'POST', '/api/import_agent', { yaml: 7 });
    expect([number.status, number.body['message']]).toEqual([400, 'yaml must be text']);
  });
});

const look = (more: object = {}) => ({
  name: 'look',
  url: 'https://weather.example/look',
  method: 'GET',
  description: '',
  ...more,
});
const apiTool = (actions: object, more: object = {}) => ({ type: 'api_tool', name: 'Weather', config: { actions }, ...more });

const customModel = (upstream: string, more: object = {}) => ({
  ...{ type: 'custom', display_name: 'M', upstream_model_id: upstream, base_url: 'https://models.example/v1' },
  ...more,
});

/** Files that are answered with 200, with the warnings. */
const TAKEN_WITH_WARNINGS: readonly (readonly [string, string, readonly (string | RegExp)[]])[] = [
  [
    'unknown keys',
    text({ ...valid, more: 1, spec: { ...valid.spec, colour: 1, limits: { x: 1 } } }),
    ["Unknown key 'spec.limits.x'; ignored", "Unknown key 'more'; ignored", "Unknown key 'spec.colour'; ignored"],
  ],
  ['missing sources', agentFile({ sources: [{ name: 'Gone' }] }), ["Source 'Gone' not found; left unattached"]],
  [
    'sources of the same name',
    agentFile({ sources: many(2, { name: 'Gone' }) }),
    ["Multiple sources share the name 'Gone'; a mapping by that name applies to all of them", /Gone/, /Gone/],
  ],
  ['an unknown kind of tool', agentFile({ tools: [{ type: 'x' }] }), ["Tool type 'x' not available on this instance; skipped"]],
  [
    'a kind that only the service itself uses',
    agentFile({ tools: [{ type: 'think' }] }),
    ["Tool type 'think' not available on this instance; skipped"],
  ],
  ['an unknown built-in tool', agentFile({ tools: [{ type: 'x', builtin: true }] }), ["Built-in tool 'x' unavailable; skipped"]],
  [
    'missing secrets',
    agentFile({ tools: [{ type: 'brave', name: 'B' }] }),
    [/^Tool 'B' needs secret\(s\) \[token\]; not created$/],
  ],
  ['an API without actions', agentFile({ tools: [apiTool({})] }), [/^Tool 'Weather' was created without any actions/]],
  [
    'an action without URL',
    agentFile({ tools: [apiTool({ look: look({ url: '' }) })] }),
    ["Tool 'Weather' action 'look' has no URL; dropped", /without any actions/],
  ],
  [
    'an unsafe action',
    agentFile({ tools: [apiTool({ look: look({ url: 'http://127.0.0.1/x' }) })] }),
    ["Tool 'Weather' action 'look' has an unsafe URL; dropped", /without any actions/],
  ],
  [
    'an unsafe tool server',
    agentFile({ tools: [{ type: 'mcp_tool', name: 'S', config: { server_url: 'http://169.254.169.254/mcp' } }] }),
    ["Tool 'S' has an unsafe URL; not created"],
  ],
  [
    'a custom model without a key',
    agentFile({
      model: { available: [{ type: 'custom', display_name: 'M', upstream_model_id: 'm', base_url: 'http://10.0.0.1/v1' }] },
    }),
    ["Custom model 'M' needs an API key; skipped"],
  ],
  [
    'an unknown model',
    agentFile({ model: { default: 'gone', available: ['gone'] } }),
    ["Model 'gone' not available; skipped", "Default model 'gone' not resolved"],
  ],
  [
    'an invalid policy',
    agentFile({ config: { api_write_allowlist: 'all', allowed_origins: ['https://a.example'] } }),
    [/^Invalid config: config\.api_write_allowlist must be an array\./],
  ],
  [
    'an allowed write of an unknown tool',
    agentFile({ config: { api_write_allowlist: ['tool-0:x'] } }),
    ["Allowed write 'tool-0:x' names no tool that is attached; dropped"],
  ],
  [
    'two tools of the same name',
    agentFile({ tools: many(2, apiTool({})) }),
    ["Multiple tools share the name 'Weather'", /without any actions/],
  ],
  [
    'custom models of the same name',
    agentFile({ model: { available: [customModel('a'), customModel('b')] } }),
    [
      "Multiple custom models share the display name 'M'; a key by that name applies to all of them",
      "Custom model 'M' needs an API key; skipped",
      "Custom model 'M' needs an API key; skipped",
    ],
  ],
  [
    'settings for actions that a tool does not have',
    agentFile({
      tools: [
        {
          type: 'ntfy',
          name: 'Phone',
          actions: [{ name: 'gone' }, { name: 'ntfy_send_message', parameters: { colour: {}, title: { filled_by_llm: false } } }],
        },
      ],
    }),
    [
      "Tool 'Phone' action 'gone' no longer exists; customization skipped",
      "Tool 'Phone' action 'ntfy_send_message' has no parameter 'colour'; customization skipped",
      "Tool 'Phone' fixed value(s) of 'ntfy_send_message.title' don't travel in the file; set them again",
    ],
  ],
  [
    'nodes that refer to missing resources',
    graph(
      [node('a', 'start'), node('b', 'agent', { tools: ['tool-7'], sources: ['Gone'], model_id: 'gone' }), node('c', 'end')],
      [
        { id: 'ab', source: 'a', target: 'b' },
        { id: 'bc', source: 'b', target: 'c' },
      ],
    ),
    [
      "Workflow node tool 'tool-7' not resolved; removed",
      "Workflow node source 'Gone' not resolved; removed",
      "Workflow node model 'gone' not resolved; removed",
    ],
  ],
];

describe('a file is imported', () => {
  it.each(TAKEN_WITH_WARNINGS)('with %s, and its sender is warned', async (_, file, warnings) => {
    const { status, body } = await service.import(await service.newUser('carol'), file);
    expect([status, body['success']]).toEqual([200, true]);
    expect(body['warnings']).toEqual(warnings.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))));
  });

  it('without a custom model whose URL is inside the network, even if its key is given', async () => {
    const unsafe = customModel('a', { base_url: 'http://10.0.0.1/v1' });
    const file = agentFile({ model: { available: [unsafe] } });
    const { status, body } = await service.import(await service.newUser('carol'), file, { models: { M: { api_key: 'k' } } });
    expect([status, body['warnings']]).toEqual([200, ["Custom model 'M' has an unsafe base URL; skipped"]]);
  });

  it.each([
    ['numbers instead of strings', 'apiVersion: docsgpt.v1\nkind: Agent\nspec: {name: 42, description: true}'],
    [
      'nulls',
      agentFile({
        description: null,
        sources: null,
        tools: null,
        model: null,
        prompt: null,
        config: null,
        limits: null,
        workflow: null,
      }),
    ],
    ['a byte order mark', `\uFEFF${agentFile({})}`],
    ['CRLF line ends', 'apiVersion: docsgpt.v1\r\nkind: Agent\r\nspec:\r\n  name: Guide\r\n  chunks: 2\r\n'],
  ])('with %s', async (_, file) => {
    const { status, body } = await service.import(await service.newUser('carol'), file);
    expect([status, body['warnings']]).toEqual([200, []]);
  });
});

it('any file is answered with 200 or 400, and a refused one appends no event', async () => {
  const odd = fc.anything({ values: [fc.string(), fc.constantFrom('', 'x', null, true, 0, -1, 1e9, [], {})], maxDepth: 3 });
  const key = fc.constantFrom(
    'agent_type',
    'chunks',
    'prompt',
    'model',
    'sources',
    'tools',
    'limits',
    'json_schema',
    'config',
    'workflow',
    'retriever',
    'other',
  );
  const spec = fc.dictionary(
    key,
    fc.oneof(odd, fc.array(fc.dictionary(fc.constantFrom('type', 'name', 'config', 'actions', 'ref', 'nodes'), odd))),
  );
  const resolution = fc.dictionary(fc.constantFrom('sources', 'tools', 'models'), odd);
  await fc.assert(
    fc.asyncProperty(spec, resolution, async (fields, decided) => {
      const before = await service.events();
      const reply = await service.import(alice, agentFile(fields), decided);
      expect([200, 400]).toContain(reply.status);
      if (reply.status === 400) expect(await service.events()).toBe(before);
    }),
    { numRuns: 60 },
  );
});
