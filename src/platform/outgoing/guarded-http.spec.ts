import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { LocalServer, redirect } from '../../../test/support/local-server.js';
import { tracesIn } from '../../../test/support/traces.js';
import { AddressRefused, OutgoingFailed } from './outgoing-http.port.js';
import { FETCHED_BYTES_MAX } from './guarded-fetch.js';
import { GuardedHttp, RESPONSE_BYTES_MAX } from './guarded-http.js';
import { REDIRECTS_MAX } from './redirects.js';

const MiB = 1024 * 1024;

let server: LocalServer;
let other: LocalServer;
let http: GuardedHttp;

beforeAll(async () => {
  [server, other] = await Promise.all([LocalServer.started(), LocalServer.started()]);
  http = new GuardedHttp({ privateHosts: [server.host, other.host] });
});
afterEach(() => {
  server.requests.length = other.requests.length = 0;
  server.answer = other.answer = (_request, response) => response.end('hello');
});
afterAll(() => Promise.all([http.close(), server.close(), other.close()]));

const textOf = ({ body }: { body: Uint8Array }) => Buffer.from(body).toString('utf8');
const get = (path = '/', more = {}) => http.request(`${server.url}${path}`, { method: 'GET', ...more });

describe('a request', () => {
  it('sends method, headers and body and returns the response', async () => {
    server.answer = (_request, response) => response.writeHead(201, { 'x-answer': 'yes' }).end('made');
    const answer = await http.request(`${server.url}/things?a=1`, {
      method: 'post',
      headers: { 'X-Token': 'secret', 'Content-Type': 'text/plain' },
      body: 'a thing',
    });
    expect(answer).toMatchObject({ url: `${server.url}/things?a=1`, status: 201, truncated: false });
    expect(answer.headers['x-answer']).toBe('yes');
    expect(textOf(answer)).toBe('made');
    expect(server.requests).toEqual([
      expect.objectContaining({
        method: 'POST',
        path: '/things?a=1',
        body: 'a thing',
        headers: expect.objectContaining({ 'x-token': 'secret' }),
      }),
    ]);
  });

  it('leaves nothing in the signal of its caller, also when it fails', async () => {
    const { signal } = new AbortController();
    for (let request = 0; request < 10; request++) {
      await get('/', { signal });
      await get('/', { signal, method: 'TRACE' }).catch(() => undefined);
    }
    expect(tracesIn(signal)).toBe(0);
  });

  it('drops headers that control the connection', async () => {
    await get('/', {
      headers: { Host: 'other.example', 'Transfer-Encoding': 'chunked', Connection: 'upgrade', 'Content-Length': '5' },
    });
    const { headers } = server.requests[0]!;
    expect(headers.host).toBe(server.host);
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(headers['content-length']).toBeUndefined();
  });

  it.each([
    { 'x-a': 'b\r\nx-c: d' },
    { 'x-a': 'b\nc' },
    { 'x-a\r\nx-c': 'd' },
    { 'x a': 'b' },
    { '': 'b' },
    { 'x-a': '\u0000' },
    { 'x-a': '€' },
  ])('with the headers %j is not sent', async (headers) => {
    await expect(get('/', { headers })).rejects.toThrow(OutgoingFailed);
    expect(server.requests).toEqual([]);
  });

  it.each(['CONNECT', 'TRACE', 'GET /x HTTP/1.1\r\n', ''])('with the method %j is not sent', async (method) => {
    await expect(get('/', { method })).rejects.toThrow(OutgoingFailed);
    expect(server.requests).toEqual([]);
  });

  it('fails with a message without path and headers when nothing listens', async () => {
    const closed = await LocalServer.started();
    const { url, host } = closed;
    await closed.close();
    const allowing = new GuardedHttp({ privateHosts: [host] });
    const failing = allowing.request(`${url}/bot-secret`, { method: 'GET', headers: { authorization: 'secret' } });
    await expect(failing).rejects.toThrow(/^127\.0\.0\.1 refuses connections\.$/);
    await allowing.close();
  });
});

describe('the timeout of a request', () => {
  it('covers a response that does not begin', async () => {
    server.answer = () => undefined;
    await expect(get('/', { timeoutMs: 50 })).rejects.toThrow(
      new OutgoingFailed('127.0.0.1 did not answer within 0.05 seconds.'),
    );
  });

  it('covers a response that does not end', async () => {
    server.answer = (_request, response) => response.write('beginning');
    await expect(get('/', { timeoutMs: 50 })).rejects.toThrow(OutgoingFailed);
  });

  it('covers all redirects together', async () => {
    server.answer = (_request, response) => void setTimeout(() => redirect(response, '/again'), 30);
    await expect(get('/', { timeoutMs: 80 })).rejects.toThrow('did not answer within 0.08 seconds');
  });

  it('does not delay the abort of the caller, which fails the request with its reason', async () => {
    const reason = new Error('stopped');
    const controller = new AbortController();
    server.answer = () => controller.abort(reason);
    await expect(get('/', { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('a response', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('compressed with %s is decompressed', async (encoding, pack) => {
    server.answer = (_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(pack('Grüße'));
    const answer = await get();
    expect(textOf(answer)).toBe('Grüße');
    expect(answer.headers['content-encoding']).toBeUndefined();
  });

  it('is truncated at the limit and marked as truncated', async () => {
    server.answer = (_request, response) => response.end('x'.repeat(RESPONSE_BYTES_MAX + 1));
    const long = await get();
    expect([long.body.byteLength, long.truncated]).toEqual([RESPONSE_BYTES_MAX, true]);
    server.answer = (_request, response) => response.end('x'.repeat(10));
    expect(await get('/', { responseBytesMax: 10 })).toMatchObject({ truncated: false });
    expect(textOf(await get('/', { responseBytesMax: 9 }))).toBe('x'.repeat(9));
  });

  it('that decompresses to a thousand times its size is decompressed only up to the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MiB));
    server.answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    const before = process.memoryUsage().arrayBuffers;
    expect(await get()).toMatchObject({ truncated: true });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * MiB);
  });

  it('without an end is closed at the limit, compressed or not', async () => {
    let closed = 0;
    const empty = gzipSync('');
    server.answer = (request, response) => {
      response.on('close', () => closed++);
      if (request.path === '/packed') response.setHeader('content-encoding', 'gzip');
      const write = (): void => {
        if (!response.destroyed) response.write(request.path === '/packed' ? empty : 'x'.repeat(1000), () => setImmediate(write));
      };
      write();
    };
    expect(await get('/plain', { responseBytesMax: 5000 })).toMatchObject({ truncated: true });
    const packed = await get('/packed', { responseBytesMax: 5000 });
    expect([packed.truncated, packed.body.byteLength]).toEqual([true, 0]);
    await eventually(() => closed === 2);
  });

  it('without a body is empty, also with a content encoding', async () => {
    server.answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end();
    expect(await get('/', { method: 'HEAD' })).toMatchObject({ status: 200, truncated: false });
    expect((await get()).body.byteLength).toBe(0);
  });

  it.each([
    ['gzip', 'this is not gzip'],
    ['br', 'this is not brotli'],
    ['zstd', 'x'],
    ['gzip, gzip', gzipSync(gzipSync('x'))],
    ['gzip', gzipSync('x'.repeat(100)).subarray(0, 20)],
  ])('with an invalid or unsupported %s encoding is a failure', async (encoding, body) => {
    server.answer = (_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body);
    await expect(get()).rejects.toThrow(OutgoingFailed);
  });

  it('that breaks off is a failure', async () => {
    server.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('beginning', () => response.destroy());
    };
    await expect(get()).rejects.toThrow(OutgoingFailed);
  });
});

describe('a redirect', () => {
  const credentials = { Authorization: 'Bearer secret', Cookie: 'a=b', 'X-Api-Key': 'secret', Accept: 'text/plain' };

  it('is followed at most REDIRECTS_MAX times', async () => {
    server.answer = ({ path }, response) => {
      const left = Number(path.slice(1));
      if (left > 0) redirect(response, `/${left - 1}`);
      else response.end('there');
    };
    const answer = await get(`/${REDIRECTS_MAX}`);
    expect([textOf(answer), answer.url]).toEqual(['there', `${server.url}/0`]);
    await expect(get(`/${REDIRECTS_MAX + 1}`)).rejects.toThrow(OutgoingFailed);
    await expect(http.fetch(`${server.url}/${REDIRECTS_MAX + 1}`)).rejects.toThrow(TypeError);
  });

  it('to another server drops credentials, by request and by fetch', async () => {
    server.answer = (_request, response) => redirect(response, `${other.url}/`);
    await get('/', { headers: credentials });
    await http.fetch(`${server.url}/`, { headers: credentials });
    expect(other.requests).toHaveLength(2);
    for (const { headers } of other.requests) {
      expect(headers).toMatchObject({ accept: 'text/plain' });
      expect(JSON.stringify(headers)).not.toMatch(/secret|a=b/);
    }
  });

  it('on the same server keeps credentials', async () => {
    server.answer = ({ path }, response) => (path === '/' ? redirect(response, '/next') : response.end());
    await get('/', { headers: credentials });
    expect(server.requests[1]!.headers).toMatchObject({ authorization: 'Bearer secret', 'x-api-key': 'secret' });
  });

  it('to another server is not followed with a request body', async () => {
    server.answer = (_request, response) => redirect(response, `${other.url}/`, 307);
    await expect(http.request(server.url, { method: 'POST', body: 'client_secret=x' })).rejects.toThrow(AddressRefused);
    expect(other.requests).toEqual([]);
  });

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'text'],
    [308, 'PUT', 'PUT', 'text'],
    [302, 'PUT', 'PUT', 'text'],
  ])('of status %d after %s asks with %s', async (status, method, next, body) => {
    server.answer = ({ path }, response) => (path === '/' ? redirect(response, '/next', status) : response.end());
    await http.request(server.url, { method, body: 'text', headers: { 'content-type': 'text/plain' } });
    expect(server.requests[1]).toMatchObject({ method: next, body });
  });

  it('without a location is returned as the response', async () => {
    server.answer = (_request, response) => response.writeHead(302).end('where?');
    expect(await get()).toMatchObject({ status: 302 });
  });
});

describe('fetch', () => {
  it('streams the response as a `Response`', async () => {
    server.answer = (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'));
    const response = await http.fetch(new Request(`${server.url}/x`, { method: 'POST', body: 'text' }));
    expect(response).toBeInstanceOf(Response);
    expect(response.url).toBe(`${server.url}/x`);
    expect(await response.json()).toEqual({ a: 1 });
    expect(server.requests[0]).toMatchObject({ method: 'POST', body: 'text' });
  });

  it('returns a redirect in manual mode and rejects it in error mode', async () => {
    server.answer = (_request, response) => redirect(response, '/next');
    expect((await http.fetch(server.url, { redirect: 'manual' })).headers.get('location')).toBe('/next');
    await expect(http.fetch(server.url, { redirect: 'error' })).rejects.toThrow(TypeError);
  });

  it('rejects with the reason of its caller', async () => {
    const controller = new AbortController();
    server.answer = () => controller.abort(new Error('stopped'));
    await expect(http.fetch(server.url, { signal: controller.signal })).rejects.toThrow('stopped');
  });

  it('rejects a response that exceeds the limit', async () => {
    server.answer = (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(FETCHED_BYTES_MAX + 1)));
    const response = await http.fetch(server.url);
    await expect(response.arrayBuffer()).rejects.toThrow(OutgoingFailed);
  });
});
