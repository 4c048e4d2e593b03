import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { answerJson, LocalServer } from '../../../../test/support/local-server.js';
import { callTool, configuredTool, usedTool } from '../../../../test/support/used-tool.js';
import { JSON_ENTRIES_MAX } from '../../../kernel/bounded-json.js';
import { Rejection } from '../../../kernel/rejection.js';
import { GuardedHttp } from '../../../platform/outgoing/guarded-http.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';
import {
  API_ACTIONS_MAX,
  API_CONFIG_CHARACTERS_MAX,
  API_DESCRIPTION_CHARACTERS_MAX,
  API_PARAMETERS_MAX,
  API_URL_CHARACTERS_MAX,
} from './api-config.policy.js';
import { API_SECRET_CHARACTERS_MAX } from './api-secrets.policy.js';
import { API_ANSWER_BYTES_MAX, ApiTool } from './api-tool.js';

let server: LocalServer;
let http: GuardedHttp;
let kind: ApiTool;

beforeAll(async () => {
  server = await LocalServer.started();
  http = new GuardedHttp({ privateHosts: [server.host] });
  kind = new ApiTool(http);
});
afterEach(() => {
  server.requests.length = 0;
  server.answer = (_request, response) => response.end();
});
afterAll(() => Promise.all([http.close(), server.close()]));

type Parts = Readonly<Record<string, unknown>>;
const group = (properties: Parts, more: Parts = {}) => ({ type: 'object', properties, ...more });
const action = (path: string, more: Parts = {}) => ({
  actions: { act: { name: 'act', url: `${server.url}${path}`, method: 'GET', description: 'Acts.', active: true, ...more } },
});
const filled = (type: string, more: Parts = {}) => ({ type, description: '', filled_by_llm: true, value: '', ...more });
const fixed = (value: unknown, more: Parts = {}) => ({ type: 'string', description: '', filled_by_llm: false, value, ...more });

const call = async (config: Parts, args: Parts = {}) => callTool(kind, await configuredTool(kind, config), 'act', args);
const sent = async (config: Parts, args: Parts = {}) => {
  await call(config, args);
  return server.requests[0]!;
};

describe('an action of an API tool', () => {
  it('is offered with the parameters that a model fills, from all parts of the request', async () => {
    const config = action('/users/{id}/posts', {
      method: 'post',
      require_approval: true,
      query_params: group({ id: filled('integer', { required: true }), lang: fixed('de'), page: filled('integer') }),
      headers: group({ 'X-Trace': filled('string'), Authorization: fixed('Bearer secret-token') }),
      body: group({ title: filled('string'), page: filled('string') }, { required: ['title'] }),
    });
    const { actions } = await kind.configure(config, {});
    expect(actions).toEqual([
      {
        name: 'act',
        description: 'Acts.',
        active: true,
        method: 'POST',
        require_approval: true,
        parameters: {
          type: 'object',
          properties: {
            id: { type: 'integer', description: '', filled_by_llm: true },
            lang: { type: 'string', description: '', filled_by_llm: false, value: 'de' },
            query_page: { type: 'integer', description: '', filled_by_llm: true },
            'X-Trace': { type: 'string', description: '', filled_by_llm: true },
            title: { type: 'string', description: '', filled_by_llm: true },
            body_page: { type: 'string', description: '', filled_by_llm: true },
          },
          required: ['id', 'title'],
        },
      },
    ]);
  });

  it('gives parameters names that model endpoints accept', async () => {
    const names = { 'filter[a]': filled('string'), 'filter(a)': filled('string'), ['x'.repeat(100)]: filled('string') };
    const { actions } = await kind.configure(action('/', { query_params: group(names) }), {});
    const offered = Object.keys(actions![0]!.parameters.properties);
    expect(offered).toEqual(['filter_a_', 'filter_a__2', 'x'.repeat(60)]);
    const { path } = await sent(action('/', { query_params: group(names) }), { filter_a_: '1', filter_a__2: '2' });
    expect(path).toBe('/?filter%5Ba%5D=1&filter%28a%29=2');
  });

  it('sends arguments in path, query and headers', async () => {
    const config = action('/users/{id}?fixed=1', {
      query_params: group({
        id: filled('integer'),
        tags: filled('array'),
        ids: { ...filled('array'), explode: false },
        left: filled('string'),
        lang: fixed('de'),
      }),
      headers: group({ 'X-Trace': filled('string') }),
    });
    const { method, path, headers } = await sent(config, { id: 7, tags: ['a', 'b&c'], ids: [1, 2], 'X-Trace': 'abc' });
    expect([method, path]).toEqual(['GET', '/users/7?fixed=1&tags=a&tags=b%26c&ids=1%2C2&lang=de']);
    expect(headers).toMatchObject({ 'x-trace': 'abc' });
    expect(headers['content-length']).toBeUndefined();
  });

  const body = group({ name: filled('string'), count: filled('integer'), list: filled('array'), more: filled('object') });
  const values = { name: 'Zoë & "co"', count: '3', list: ['a', 'b'], more: { deep: true } };

  it('sends JSON with values of the declared types', async () => {
    const request = await sent(action('/', { method: 'POST', body }), values);
    expect(request.headers['content-type']).toBe('application/json');
    expect(JSON.parse(request.body)).toEqual({ ...values, count: 3 });
  });

  it('sends and returns whole numbers that JavaScript would round with all their digits', async () => {
    server.answer = (_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"id":1234567890123456789,"text":"1234567890123456789"}');
    };
    const config = action('/posts/{id}', {
      method: 'POST',
      query_params: group({ id: filled('integer'), after: filled('integer') }),
      body: group({ parent: filled('integer'), note: filled('string') }),
    });
    const args = {
      id: '1234567890123456789',
      after: '-1234567890123456789',
      parent: '9007199254740993',
      note: '9007199254740993',
    };
    expect(await call(config, args)).toMatchObject({ data: { id: '1234567890123456789', text: '1234567890123456789' } });
    expect(server.requests[0]).toMatchObject({
      path: '/posts/1234567890123456789?after=-1234567890123456789',
      body: '{"parent":9007199254740993,"note":"9007199254740993"}',
    });
  });

  it('sends whole numbers that JavaScript would round as numbers, also inside lists and objects that say so', async () => {
    const id = '1234567890123456789';
    const one = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } };
    const ids = { ids: filled('array', { items: { type: ['integer', 'null'] } }), list: filled('array', { items: one }) };
    const request = await sent(action('/', { method: 'POST', body: group(ids) }), {
      ids: [id, 7],
      list: [{ id, name: id, other: id }],
    });
    expect(request.body).toBe(`{"ids":[${id},7],"list":[{"id":${id},"name":"${id}","other":"${id}"}]}`);
  });

  it('sends forms', async () => {
    const rules = { list: { style: 'pipeDelimited', explode: false }, more: { style: 'deepObject' } };
    const type = { body_content_type: 'application/x-www-form-urlencoded', body_encoding_rules: rules };
    const request = await sent(action('/', { method: 'POST', body, ...type }), values);
    expect(request.headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect([...new URLSearchParams(request.body)]).toEqual([
      ['name', 'Zoë & "co"'],
      ['count', '3'],
      ['list', 'a|b'],
      ['more[deep]', 'true'],
    ]);
  });

  it('sends multipart forms in which a field cannot begin another one', async () => {
    const config = action('/', {
      method: 'POST',
      body_content_type: 'multipart/form-data',
      body: group({ 'na"me\r\n': filled('string'), more: filled('object') }),
    });
    const request = await sent(config, { na_me__: 'a\r\n--x', more: { deep: true } });
    const form = await new Response(request.body, { headers: { 'content-type': request.headers['content-type']! } }).formData();
    expect([...form]).toEqual([
      ['na"me\r\n', 'a\r\n--x'],
      ['more', '{"deep":true}'],
    ]);
  });

  it('sends text, and a body that is not an object', async () => {
    const one = group({ body: filled('string') }, { whole: true });
    expect(
      await sent(action('/', { method: 'PUT', body_content_type: 'text/plain', body: one }), { body: 'hello' }),
    ).toMatchObject({
      body: 'hello',
      headers: { 'content-type': 'text/plain' },
    });
    server.requests.length = 0;
    const list = group({ body: filled('array') }, { whole: true });
    expect(await sent(action('/', { method: 'PUT', body: list }), { body: [1, 2] })).toMatchObject({ body: '[1,2]' });
  });

  it.each([
    ['..', '/users/../admin'],
    ['.', ''],
    ['', ''],
  ])('refuses %j as a part of the path', async (id) => {
    await expect(call(action('/users/{id}/x'), { id })).rejects.toThrow(ToolFailed);
    expect(server.requests).toEqual([]);
  });

  it.each([
    ['../admin', '/users/..%2Fadmin/x'],
    ['%2e%2e/admin', '/users/%252e%252e%2Fadmin/x'],
    ['a?b=c#d', '/users/a%3Fb%3Dc%23d/x'],
    ['//evil.example', '/users/%2F%2Fevil.example/x'],
    ['@evil.example', '/users/%40evil.example/x'],
    ['a\r\nHost: evil', '/users/a%0D%0AHost%3A%20evil/x'],
  ])('keeps %j within its part of the path', async (id, path) => {
    expect((await sent(action('/users/{id}/x'), { id })).path).toBe(path);
  });

  it.each(['a\r\nX-Other: b', 'a\nb', 'a\u0000b', '€'])('does not send %j in a header', async (value) => {
    const config = action('/', { headers: group({ 'X-Trace': filled('string') }) });
    await expect(call(config, { 'X-Trace': value })).rejects.toThrow(ToolFailed);
    expect(server.requests).toEqual([]);
  });

  it('reports missing arguments', async () => {
    const config = action('/', { query_params: group({ q: filled('string', { required: true }) }) });
    await expect(call(config)).rejects.toThrow('The argument `q` must be given.');
  });
});

describe('the result of a call', () => {
  it('holds the status and the data, parsed if it is JSON', async () => {
    server.answer = (_request, response) => answerJson(response, { a: [1] });
    expect(await call(action('/'))).toEqual({
      status_code: 200,
      data: { a: [1] },
      message: 'The server answered with HTTP status 200.',
    });
    server.answer = (_request, response) => response.writeHead(204).end();
    expect(await call(action('/'))).toMatchObject({ status_code: 204, data: null });
    server.answer = (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain; charset=latin1' }).end(Buffer.from('é', 'latin1'));
    expect(await call(action('/'))).toMatchObject({ data: 'é' });
    server.answer = (_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('xyz');
    expect(await call(action('/'))).toMatchObject({ data: 'Not text: 3 bytes of type image/png.' });
    server.answer = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"half":');
    expect(await call(action('/'))).toMatchObject({ data: '{"half":' });
  });

  it('holds JSON of more entries than are parsed as text', async () => {
    const entries = (count: number) => Array.from({ length: count }, () => ({}));
    server.answer = (_request, response) => answerJson(response, entries(JSON_ENTRIES_MAX));
    expect(await call(action('/'))).toMatchObject({ data: entries(JSON_ENTRIES_MAX) });
    server.answer = (_request, response) => answerJson(response, entries(JSON_ENTRIES_MAX + 1));
    expect(await call(action('/'))).toMatchObject({ data: JSON.stringify(entries(JSON_ENTRIES_MAX + 1)) });
  });

  it.each([404, 422, 500])('for status %d is an error with the data that the server sent', async (status) => {
    server.answer = (_request, response) => answerJson(response, { detail: 'no such user' }, status);
    expect(await call(action('/'))).toEqual({
      status_code: status,
      data: { detail: 'no such user' },
      message: `The server answered with HTTP status ${status}.`,
      error: `The request failed with HTTP status ${status}.`,
    });
  });

  it('says where a long response was truncated', async () => {
    server.answer = (_request, response) => response.end('x'.repeat(API_ANSWER_BYTES_MAX + 1));
    const answer = (await call(action('/'))) as { data: string; message: string };
    expect(answer.data).toHaveLength(API_ANSWER_BYTES_MAX);
    expect(answer.message).toContain(`cut after ${API_ANSWER_BYTES_MAX} bytes`);
  });

  it('is a failure if the server does not answer or redirects to a private address', async () => {
    server.answer = (_request, response) => response.destroy();
    await expect(call(action('/'))).rejects.toThrow(ToolFailed);
    server.answer = (_request, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    await expect(call(action('/'))).rejects.toThrow(ToolFailed);
  });
});

describe('fixed values that are secret', () => {
  const withSecrets = () =>
    action('/?api_key=key-in-query&page=1', {
      method: 'POST',
      headers: group({ Authorization: fixed('Bearer token-in-header'), 'X-Plain': fixed('plain-but-a-header') }),
      query_params: group({ access_token: fixed('token-in-group'), lang: fixed('de') }),
      body: group({ client_secret: fixed('secret-in-body'), name: filled('string') }),
    });
  const SECRETS = /key-in-query|token-in-header|plain-but-a-header|token-in-group|secret-in-body/;

  it('are in neither the configuration nor the actions, and are still sent', async () => {
    const configured = await kind.configure(withSecrets(), {});
    expect(JSON.stringify([configured.config, configured.actions])).not.toMatch(SECRETS);
    expect(Object.values(configured.secrets).sort()).toEqual([
      'Bearer token-in-header',
      'key-in-query',
      'plain-but-a-header',
      'secret-in-body',
      'token-in-group',
    ]);
    await callTool(kind, usedTool(kind, configured), 'act', { name: 'x' });
    const { path, headers, body } = server.requests[0]!;
    expect(path).toBe('/?page=1&access_token=token-in-group&lang=de&api_key=key-in-query');
    expect(headers).toMatchObject({ authorization: 'Bearer token-in-header', 'x-plain': 'plain-but-a-header' });
    expect(JSON.parse(body)).toEqual({ client_secret: 'secret-in-body', name: 'x' });
  });

  it('are kept when the configuration is sent back as shown, replaced when given, and deleted with their parameter', async () => {
    const first = await kind.configure(withSecrets(), {});
    const again = await kind.configure(first.config, first.secrets);
    expect(again).toEqual(first);
    const blank = action('/', { headers: group({ Authorization: fixed('') }) });
    expect((await kind.configure(blank, first.secrets)).secrets).toEqual({
      'act/header/Authorization': 'Bearer token-in-header',
    });
    const changed = action('/', { headers: group({ Authorization: fixed('Bearer other') }) });
    expect((await kind.configure(changed, first.secrets)).secrets).toEqual({ 'act/header/Authorization': 'Bearer other' });
    expect((await kind.configure(action('/'), first.secrets)).secrets).toEqual({});
  });

  it('are dropped when the model is to fill their parameters', async () => {
    const config = action('/', { headers: group({ Authorization: filled('string', { value: 'Bearer token-in-header' }) }) });
    expect(JSON.stringify(await kind.configure(config, {}))).not.toMatch(SECRETS);
  });

  it('are required again when they are no longer stored', async () => {
    const { config } = await kind.configure(withSecrets(), {});
    await expect(kind.configure(config, {})).rejects.toThrow(Rejection);
  });

  it('cannot be filled by a model', async () => {
    const tool = await configuredTool(kind, withSecrets());
    await callTool(kind, tool, 'act', { name: 'x', Authorization: 'mine', client_secret: 'mine' });
    expect(JSON.stringify(server.requests)).not.toContain('mine');
  });

  it('are replaced in the result when a server repeats the request', async () => {
    server.answer = ({ headers, path, body }, response) => answerJson(response, { headers, path, body }, 400);
    const answer = await call(withSecrets(), { name: 'x' });
    expect(JSON.stringify(answer)).not.toMatch(SECRETS);
    expect(JSON.stringify(answer)).toContain('[secret]');
  });
});

describe('a configuration is refused', () => {
  const refusal = (config: Parts) => expect(kind.configure(config, {})).rejects;

  it.each([
    'http://127.0.0.1:1/',
    'http://169.254.169.254/{x}',
    'http://localhost/',
    'file:///etc/passwd',
    'https://user:pw@example.com/',
    'https://{host}/x',
    'https://a.{host}.example/x',
    '{url}',
    '/relative',
    '',
  ])('for the address %j', async (url) => {
    await refusal({ actions: { act: { url } } }).toThrow(Rejection);
  });

  it.each<[string, () => Parts]>([
    ['with actions in a list', () => ({ actions: [1] })],
    ['with an action that is not an object', () => ({ actions: { act: 'x' } })],
    ['with a name that models cannot use', () => ({ actions: { 'a b': { url: server.url } } })],
    [
      'with two actions of one name',
      () => ({ actions: { a: { url: server.url, name: 'x' }, b: { url: server.url, name: 'x' } } }),
    ],
    ['with an unsupported method', () => action('/', { method: 'CONNECT' })],
    ['with a header that HTTP itself sets', () => action('/', { headers: group({ Host: fixed('x') }) })],
    ['with a line break in a header name', () => action('/', { headers: group({ 'X-A\r\nX-B': fixed('x') }) })],
    ['with a line break in a fixed header value', () => action('/', { headers: group({ 'X-A': fixed('a\r\nX-B: b') }) })],
    ['with a body for a method without one', () => action('/', { body: group({ a: filled('string') }) })],
    [
      'with a body of an unsupported type',
      () => action('/', { method: 'POST', body_content_type: 'image/png', body: group({ a: filled('string') }) }),
    ],
    ['with a parameter that is not an object', () => action('/', { query_params: group({ a: 'x' }) })],
    [
      'with a switch that is a text, which would count as on',
      () => action('/', { headers: group({ Authorization: fixed('Bearer secret-token', { filled_by_llm: 'false' }) }) }),
    ],
    [
      'with a description that is not a text',
      () => action('/', { query_params: group({ a: filled('string', { description: 5 }) }) }),
    ],
    ['with a type that is not a text', () => action('/', { query_params: group({ a: { ...filled('string'), type: 0 } }) })],
    [
      'with too many actions',
      () => ({
        actions: Object.fromEntries(Array.from({ length: API_ACTIONS_MAX + 1 }, (_, n) => [`a${n}`, { url: server.url }])),
      }),
    ],
    [
      'with too many parameters',
      () =>
        action('/', {
          headers: group(
            Object.fromEntries(Array.from({ length: API_PARAMETERS_MAX + 1 }, (_, n) => [`x-${n}`, filled('string')])),
          ),
        }),
    ],
    ['with too long a description', () => action('/', { description: 'x'.repeat(API_DESCRIPTION_CHARACTERS_MAX + 1) })],
    ['with too long an address', () => action('x'.repeat(API_URL_CHARACTERS_MAX))],
    ['that is too large', () => action('/', { more: 'x'.repeat(API_CONFIG_CHARACTERS_MAX) })],
    [
      'with too long a secret',
      () => action('/', { headers: group({ 'X-A': fixed('x'.repeat(API_SECRET_CHARACTERS_MAX + 1)) }) }),
    ],
  ])('%s', async (_, config) => {
    await refusal(config()).toThrow(Rejection);
  });

  it('only above the maximum number of actions', async () => {
    const most = Object.fromEntries(Array.from({ length: API_ACTIONS_MAX }, (_, n) => [`a${n}`, { url: server.url }]));
    expect((await kind.configure({ actions: most }, {})).actions).toHaveLength(API_ACTIONS_MAX);
    expect((await kind.configure({}, {})).actions).toEqual([]);
  });
});
