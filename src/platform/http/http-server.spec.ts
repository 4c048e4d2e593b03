import { describe, expect, it } from '@jest/globals';
import { call, JSON_TYPE, options, post, raw, serveProbe, waitedFor } from '../../../test/support/http-probe.js';

serveProbe();

describe('a request', () => {
  it('may be cancelled without a body, whether it claims to be JSON or not', async () => {
    expect((await raw('POST', '/api/messages/1/cancel')).status).toBe(202);
    expect((await raw('POST', '/api/messages/1/cancel', '', JSON_TYPE)).status).toBe(202);
  });

  it('may carry raw YAML with and without a content type where agents are imported', async () => {
    expect(JSON.parse((await raw('POST', '/api/import_agent/plan', 'a: 1')).body)).toEqual({ body: 'a: 1', type: null });
    expect((await raw('POST', '/api/import_agent/plan', 'a: 1', { 'content-type': 'text/yaml' })).status).toBe(200);
    expect((await raw('POST', '/api/import_agent/plan', 'a: 1', { 'content-type': 'image/png' })).status).toBe(415);
  });

  it('may carry files and fields in one form, in any order and with any file name', async () => {
    const form = new FormData();
    form.append('file', new Blob(['hello']), 'übersicht.txt');
    form.append('name', 'docs');
    form.append('file', new Blob(['hi']), 'b.txt');
    const response = await call(`/api/upload`, { method: 'POST', body: form });
    const files = [
      ['übersicht.txt', 5],
      ['b.txt', 2],
    ];
    expect([response.status, await response.json()]).toEqual([200, { files, name: 'docs' }]);
  });

  it('may not exceed the limits of file size, number of files and total size', async () => {
    const upload = async (...sizes: number[]) => {
      const form = new FormData();
      sizes.forEach((size, index) => form.append('file', new Blob(['x'.repeat(size)]), `${index}.txt`));
      return call(`/api/upload`, { method: 'POST', body: form });
    };
    expect((await upload(options.uploadFileBytesMax)).status).toBe(200);
    const tooMuch: [number, number[]][] = [
      [413, [options.uploadFileBytesMax + 1]],
      [400, [1, 1, 1, 1]],
      [413, [options.uploadRequestBytesMax]],
    ];
    for (const [status, sizes] of tooMuch) {
      const response = await upload(...sizes);
      expect([response.status, await response.json()]).toMatchObject([status, { success: false }]);
    }
  });

  it('has only the limit of bodies if it is no upload, also when that of uploads is lower', async () => {
    const response = await post('/api/answer', { question: 'x'.repeat(options.uploadRequestBytesMax) });
    expect([response.status, options.uploadRequestBytesMax < options.bodyBytesMax]).toEqual([200, true]);
  });

  it('may end its path with a slash', async () => {
    expect((await call(`/api/things/7/`)).status).toBe(200);
  });

  it('loses the fields that its route does not know', async () => {
    expect(await (await post('/api/answer', { question: 'x', sender: 'bot' })).json()).toEqual({ question: 'x' });
  });

  it('has a unique id, which the client does not choose', async () => {
    const id = () => raw2('x-request-id');
    const [first, second] = [await id(), await id()];
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).not.toBe(first);
  });

  const raw2 = async (header: string) =>
    (await call(`/api/things/1`, { headers: { 'x-request-id': 'mine' } })).headers.get(header);

  it('waits for the read models to pass the position it names', async () => {
    waitedFor.length = 0;
    await call(`/api/things/1`, { headers: { 'x-after-position': '41' } });
    await call(`/api/things/1`);
    expect(waitedFor).toEqual([[['agents', 'sources'], 41n]]);
    const refused = await call(`/api/things/1`, { headers: { 'x-after-position': '-1' } });
    expect(refused.status).toBe(400);
  });

  it('gets the position of its write', async () => {
    const response = await post('/api/form', 'a=1&b=x%20y', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([response.headers.get('x-position'), await response.json()]).toEqual(['41', { a: '1', b: 'x y' }]);
  });
});

describe('pages of other origins', () => {
  it('may send the headers that clients need and read those of the service, also on refusals', async () => {
    const preflight = await call(`/stream`, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    const allowed = preflight.headers.get('access-control-allow-headers')!.toLowerCase();
    const keys = ['authorization', 'content-type', 'last-event-id', 'idempotency-key', 'x-api-key'];
    const sessions = ['x-docsgpt-conversation-id', 'x-docsgpt-session-id', 'x-session-id', 'x-session-affinity'];
    for (const header of [...keys, ...sessions, 'mcp-session-id', 'mcp-protocol-version']) expect(allowed).toContain(header);
    const refusal = await post('/api/answer', {}, { ...JSON_TYPE, origin: 'https://a.example' });
    expect(refusal.headers.get('access-control-allow-origin')).toBe('*');
    for (const header of ['X-Position', 'Mcp-Session-Id'])
      expect(refusal.headers.get('access-control-expose-headers')).toContain(header);
  });
});

it('answers OPTIONS also if it is no preflight of a page', async () => {
  for (const headers of [{}, { origin: 'https://a.example' }]) {
    const options = await call(`/stream`, { method: 'OPTIONS', headers });
    expect([options.status, await options.text()]).toEqual([204, '']);
    expect(options.headers.get('access-control-allow-methods')).toContain('POST');
  }
});

it('serves the interactive reference with its assets and the OpenAPI documents', async () => {
  const page = await call(`/api/docs`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('swagger-ui')]);
  expect((await call(`/api/docs/swagger-ui-bundle.js`)).status).toBe(200);
  expect(await (await call(`/api/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0', paths: { '/stream': {} } });
  expect(await (await call(`/swagger.json`)).json()).toMatchObject({ swagger: '2.0', paths: { '/stream': {} } });
});
