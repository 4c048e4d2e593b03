import http from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { anyCharacter } from '../../../test/support/any-character.js';
import { ask, call, JSON_TYPE, options, post, raw, serveProbe } from '../../../test/support/http-probe.js';

serveProbe();

describe('the body of a refusal', () => {
  it.each([
    ['/api/answer', 'resume', 409, { error: 'Resume already in progress for this conversation.', code: 'resume_in_progress' }],
    ['/api/answer', 'signin', 401, { error: 'Unauthorized' }],
    ['/api/search', 'missing', 404, { error: 'No such conversation.' }],
    ['/api/answer', 'big', 413, { error: 'The request is too large to be kept.' }],
    ['/api/answer', 'lost', 503, { error: 'Too much is changed here at once. Please try again.', code: 'unavailable' }],
    ['/api/answer', 'unlisted', 400, { error: 'Refused.' }],
    [
      '/v1/chat/completions',
      'signin',
      401,
      { error: { message: 'Unauthorized', type: 'authentication_error', code: null, param: null } },
    ],
  ])('of %s, %s, is %i with the fields that its clients read', async (path, question, status, body) => {
    const response = await ask(path, question);
    expect([response.status, await response.json()]).toEqual([status, body]);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each([
    ['missing', 404, 'data: {"type":"error","error":"No such conversation."}\n\n'],
    ['signin', 401, 'data: {"type":"error","error":"Unauthorized"}\n\n'],
    [
      'resume',
      409,
      'data: {"type":"error","error":"Resume already in progress for this conversation.","code":"resume_in_progress"}\n\n',
    ],
  ])('of /stream, %s, is %i and one frame without an id', async (question, status, frame) => {
    const response = await ask('/stream', question);
    expect([response.status, await response.text()]).toEqual([status, frame]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
  });

  it.each([
    ['limit', 429, { success: false, message: 'Exceeding usage limit, please try again later.', error: 'usage_limit' }],
    ['token', 401, { success: false, message: 'Authentication error: invalid token', error: 'invalid_token' }],
  ])('of /stream, %s, is %i in JSON', async (question, status, body) => {
    const response = await ask('/stream', question);
    expect([response.status, await response.json()]).toEqual([status, body]);
  });

  it.each([
    ['limit', { error: 'Exceeding usage limit, please try again later.', code: 'usage_limit' }],
    ['token', { error: 'Authentication error: invalid token', code: 'invalid_token' }],
  ])('of /api/answer, %s, has the format of that route', async (question, body) => {
    expect(await (await ask('/api/answer', question)).json()).toEqual(body);
  });

  it('of a usage limit has a Retry-After', async () => {
    expect((await ask('/api/answer', 'limit')).headers.get('retry-after')).toBe('17');
  });

  it.each(['store', 'kv', 'database'])('of a dependency that is down (%s) is 503 and names no address', async (how) => {
    const response = await call(`/api/fail?how=${how}`);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await response.text()).not.toContain('10.0.0.7');
  });

  it('of a bug is 500 with the id of the request and nothing of the bug', async () => {
    const response = await call(`/api/fail?how=bug`);
    const body = (await response.json()) as { message: string };
    expect(response.status).toBe(500);
    expect(body.message).toContain(response.headers.get('x-request-id')!);
    expect(body.message).not.toContain('secret');
  });
});

describe('a request that cannot be read', () => {
  it.each([
    ['malformed JSON', '{"question":', /not valid JSON/],
    ['null', 'null', /must not be null/],
    ['an array', '[]', /must be a JSON object/],
    ['a string', '"x"', /must be a JSON object/],
    ['a prototype', '{"question":"x","__proto__":{"a":1}}', /__proto__/],
    ['a number that would be infinite', '{"question":"x","a":[{"b":-1e999}]}', /a number that is too large/],
    ['a number with too many digits', `{"a":${'9'.repeat(310)}}`, /a number that is too large/],
    ['a prototype in disguise', '{"question":"x","a":[{"\\u005f_proto__":{"a":1}}]}', /__proto__/],
    ['a prototype of a constructor', '{"question":"x","a":{"constructor":{"prototype":{"a":1}}}}', /constructor\.prototype/],
    ['a deep nest', `{"question":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, /deeper than 100/],
    ['a missing field', '{}', /^Missing required fields: question$/],
    ['a wrong type', '{"question":7,"chunks":"x"}', /question must be a string.*chunks must be an integer/],
    ['a wrong field inside', '{"question":"x","tool_actions":[{"call_id":1}]}', /tool_actions\.0\.call_id must be a string/],
  ])('because of %s is answered 400 with the reason, in JSON also for a stream', async (_, body, text) => {
    const answer = await post('/api/answer', body);
    const stream = await post('/stream', body);
    const { error } = (await answer.json()) as { error: string };
    expect([answer.status, stream.status]).toEqual([400, 400]);
    expect(error).toMatch(text);
    expect(await stream.json()).toEqual({ success: false, message: error });
  });

  it('because an e-mail address holds a lone surrogate is answered 400 with the reason', async () => {
    const response = await post('/api/reader', '{"email":"\\ud800@example.com"}');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: 'email must not hold NUL or half of a surrogate pair' });
  });

  it('because an id in a list of sources holds NUL is answered 400 with the reason', async () => {
    const response = await post('/api/reader', '{"email":"a@example.com","active_docs":["x","\\u0000"]}');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: 'active_docs must not hold NUL or half of a surrogate pair' });
  });

  it('because a search holds half of a surrogate pair is answered 400, because it would match another character', async () => {
    const response = await post('/api/reader', '{"email":"a@example.com","search":"\\ud800"}');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: 'search must not hold NUL or half of a surrogate pair' });
  });

  it('because of its size is answered 413', async () => {
    expect((await post('/api/answer', { question: 'x'.repeat(options.bodyBytesMax) })).status).toBe(413);
  });

  it.each(['/api/idle?q=%00', '/api/idle?q=%ED%A0%80', '/api/idle?q=%FF', '/api/%00'])(
    'of %s is answered 400 because of an unstorable character',
    async (path) => {
      expect((await post(path, {})).status).toBe(400);
    },
  );

  it('with a lone percent sign in its query is served', async () => {
    expect((await post('/api/idle?q=100%', {})).status).toBe(201);
  });

  it.each(['//api/idle', '/api//idle'])('of %s is answered 404', async (path) => {
    expect((await raw('POST', path)).status).toBe(404);
  });

  it('with a compressed body is answered 415', async () => {
    expect((await post('/api/idle', '{}', { ...JSON_TYPE, 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await post('/api/idle', '{}', { ...JSON_TYPE, 'content-encoding': 'identity' })).status).toBe(201);
  });

  it.each(['a=%FF', 'a=\xff'])('with a form that is not UTF-8 is answered 400: %s', async (form) => {
    const bytes = Buffer.from(form, 'latin1');
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await call(`/api/idle`, { method: 'POST', headers: type, body: bytes })).status).toBe(400);
  });

  it('because of its content type is answered 415, also as a form or without a type', async () => {
    expect((await post('/api/answer', 'question=x', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415);
    expect((await post('/api/answer', '<question/>', { 'content-type': 'text/xml' })).status).toBe(415);
    expect((await post('/api/answer', 'a: 1', { 'content-type': 'text/yaml' })).status).toBe(415);
    expect((await raw('POST', '/api/answer', '{"question":"x"}')).status).toBe(415);
  });

  it('because of its path is answered 404 in JSON', async () => {
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['POST', '/api/nowhere'],
      ['GET', '/index.html'],
      // The id is empty.
      ['POST', '/api/messages//cancel'],
      ['GET', '/api/answer/nowhere'],
      ['POST', '/api/search/nowhere'],
      ['POST', '/stream/nowhere'],
    ] as const) {
      const { status, body } = await raw(method, path);
      expect([status, JSON.parse(body)]).toEqual([404, { success: false, message: 'Not found' }]);
    }
  });

  it.each([
    ['malformed JSON', '{', JSON_TYPE],
    ['another content type', 'a,b', { 'content-type': 'text/csv' }],
    ['a compressed body', 'x', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    ['too large a body', 'x'.repeat(options.bodyBytesMax + 1), JSON_TYPE],
  ])('because of its path is answered 404 whatever its body: %s', async (_, body, headers) => {
    const response = await post('/api/nowhere', body, headers);
    expect([response.status, await response.json()]).toEqual([404, { success: false, message: 'Not found' }]);
  });

  it('because of its method is answered 405 with the allowed methods', async () => {
    const response = await call(`/api/things/7`, { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('because of the length of its headers is answered 431 in JSON', async () => {
    for (const [path, headers] of [
      [`/api/things/x?q=${'x'.repeat(http.maxHeaderSize)}`, {}],
      ['/api/things/x', { 'x-long': 'x'.repeat(http.maxHeaderSize) }],
    ] as const) {
      const { status, body } = await raw('GET', path, '', headers);
      const message = `The request line and the headers have more than ${http.maxHeaderSize} bytes.`;
      expect([status, JSON.parse(body)]).toEqual([431, { success: false, message }]);
    }
  });

  it.each(['[', 'a b', '%', '<script>', 'x:99999', 'x:y', 'a/b', 'a?b', 'a#b', 'a\\b', 'u@a', 'http://a'])(
    'because %s is no host is answered 400 in JSON',
    async (host) => {
      const { status, body } = await raw('GET', '/api/things/7', '', { host });
      expect([status, JSON.parse(body)]).toEqual([400, { success: false, message: 'The host of the request is not valid.' }]);
    },
  );

  it.each(['a', 'a_b.example:8080', '127.0.0.1:1', '[::1]:80', 'xn--bcher-kva.example', ''])(
    'for the host "%s" is served',
    async (host) => {
      expect((await raw('GET', '/api/things/7', '', { host })).status).toBe(200);
    },
  );

  it('because of its escapes is answered 400 in JSON', async () => {
    const { status, body } = await raw('GET', '/api/things/%zz');
    expect([status, JSON.parse(body)]).toMatchObject([400, { success: false }]);
  });
});

describe('any body', () => {
  const anything = fc.oneof(fc.json(), fc.string({ unit: anyCharacter }), questions());

  function questions() {
    const value = fc.oneof(fc.jsonValue(), fc.string({ unit: anyCharacter }), fc.constantFrom('x', 7, null, [], {}));
    const fields = { question: value, chunks: value, tool_actions: fc.oneof(value, fc.array(value)), constructor: value };
    return fc.record(fields, { requiredKeys: [] }).map((body) => JSON.stringify(body));
  }

  it('is answered 200, 201 or 400', () =>
    fc.assert(
      fc.asyncProperty(anything, fc.constantFrom('/api/answer', '/stream'), async (body, path) => {
        const response = await post(path, body);
        expect([200, 201, 400]).toContain(response.status);
        expect(await response.text()).not.toBe('');
      }),
      { numRuns: 300 },
    ));
});
