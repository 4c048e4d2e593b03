import http from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Body,
  Controller,
  Get,
  Headers,
  HttpCode,
  Module,
  Param,
  Post,
  Query,
  Req,
  Res,
  UploadedFiles,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { FilesInterceptor, type UploadedMultipartFile } from '@nestjs/platform-fastify/multipart';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.js';
import { IsArray, IsEmail, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import { AppendTooLarge, StoreUnavailable, WrongRevision } from '../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { Rejection } from '../../kernel/rejection.js';
import { serveApiReference } from './api-reference.js';
import { createHttpApp, type HttpOptions } from './http-server.js';
import { JsonBodyOnly } from './bodies/json-body-only.js';
import { answerPosition } from './positions.js';
import { conversationRejections } from '../../dialogue/conversation/conversation.rejections.js';
import { identityRejections } from '../../resources/identity/identity.rejections.js';
import { limitsRejections } from '../../work/limits/limits.rejections.js';

class ToolAction {
  @IsString() call_id!: string;
}

class Question {
  @IsString() question!: string;
  @IsOptional() @IsInt() chunks?: number;
  @IsOptional() @IsArray() @ValidateNested({ each: true }) @Type(() => ToolAction) tool_actions?: ToolAction[];
}

class Reader {
  @IsEmail() email!: string;
}

class Page {
  @IsOptional()
  @Transform(({ value }) => Number(value))
  @IsInt()
  page?: number;
}

const thrown: Record<string, () => unknown> = {
  missing: () => new Rejection('conversation-not-found', 'No such conversation.'),
  resume: () => new Rejection('resume-in-progress', 'Resume already in progress for this conversation.'),
  signin: () => new Rejection('unauthenticated', 'Unauthorized'),
  token: () => new Rejection('invalid-token', 'Authentication error: invalid token'),
  limit: () => new Rejection('usage-limit', 'Exceeding usage limit, please try again later.', undefined, 17),
  lost: () => new WrongRevision('conversation-1', 3, 4),
  big: () => new AppendTooLarge('message-1', 2 ** 21),
  store: () => new StoreUnavailable('no answer from 10.0.0.7'),
  kv: () => new KeyValueUnavailable('gone'),
  database: () => Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' }),
  full: () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }),
  bug: () => new TypeError("Cannot read properties of undefined (reading 'secret')"),
  unlisted: () => new Rejection('not-in-any-table', 'Refused.'),
};

const fail = (how: string): never => {
  throw thrown[how]!();
};

@Controller()
class Probe {
  @Post(['api/answer', 'api/search', 'stream', 'v1/chat/completions'])
  @HttpCode(200)
  @UseGuards(JsonBodyOnly)
  answer(@Body() body: Question) {
    if (Object.hasOwn(thrown, body.question)) fail(body.question);
    return body;
  }

  @Get('api/things/:id')
  thing(@Param('id') id: string, @Query() { page }: Page) {
    return { id, page };
  }

  @Get('api/fail')
  fail(@Query('how') how: string) {
    return fail(how);
  }

  @Post('api/messages/:id/cancel')
  @HttpCode(202)
  cancel(@Req() request: FastifyRequest) {
    return { success: true, body: request.body ?? null };
  }

  @Post('api/import_agent/plan')
  @HttpCode(200)
  plan(@Body() body: unknown, @Headers('content-type') type?: string) {
    return { body, type: type ?? null };
  }

  @Post('api/upload')
  @HttpCode(200)
  @UseInterceptors(FilesInterceptor('file'))
  upload(@UploadedFiles() files: UploadedMultipartFile[], @Body() body: Record<string, unknown>) {
    return { files: files.map(({ originalname, size }) => [originalname, size]), ...body };
  }

  @Post('api/idle')
  idle() {
    return {};
  }

  @Post('api/reader')
  reader(@Body() { email }: Reader) {
    return { email };
  }

  @Post('api/form')
  form(@Body() body: Record<string, unknown>, @Res({ passthrough: true }) reply: FastifyReply) {
    answerPosition(reply, 41n);
    return body;
  }
}

const waitedFor: unknown[] = [];

@Module({
  controllers: [Probe],
  providers: [
    {
      provide: Freshness,
      useValue: { reached: async (names: unknown, position: unknown) => void waitedFor.push([names, position]) },
    },
  ],
})
class ProbeModule {}

const options: HttpOptions = {
  rejections: { ...identityRejections, ...conversationRejections, ...limitsRejections },
  bodyBytesMax: 64 * 1024,
  bodyEntriesMax: 1_000,
  webhookBodyBytesMax: 16 * 1024,
  uploadRequestBytesMax: 1024 * 1024,
  uploadFileBytesMax: 1024,
  uploadFilesMax: 3,
  allowedOrigins: [],
  trustedProxies: [],
  shutdownMs: 1000,
  connectionsMax: undefined,
  databasePoolMax: 10,
  readModels: ['agents', 'sources'],
};

let app: NestFastifyApplication;
let base: string;

beforeAll(async () => {
  app = await createHttpApp(ProbeModule, options, { logger: false });
  serveApiReference(app);
  await app.listen(0, '127.0.0.1');
  base = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
});
afterAll(() => app.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const post = (path: string, body: string | object, headers: Record<string, string> = JSON_TYPE) =>
  fetch(base + path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
const ask = (path: string, question: string) => post(path, { question });

/** A request with exactly the given headers. `fetch` would add some. */
const raw = (method: string, path: string, body = '', headers: Record<string, string> = {}) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = http.request(base + path, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve({ status: response.statusCode!, body: text }));
    });
    request.on('error', reject).end(body);
  });

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
    const response = await fetch(`${base}/api/fail?how=${how}`);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('2');
    expect(await response.text()).not.toContain('10.0.0.7');
  });

  it('of a bug is 500 with the id of the request and nothing of the bug', async () => {
    const response = await fetch(`${base}/api/fail?how=bug`);
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
    expect((await fetch(`${base}/api/idle`, { method: 'POST', headers: type, body: bytes })).status).toBe(400);
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
    const response = await fetch(`${base}/api/things/7`, { method: 'DELETE' });
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
    const response = await fetch(`${base}/api/upload`, { method: 'POST', body: form });
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
      return fetch(`${base}/api/upload`, { method: 'POST', body: form });
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

  it('may end its path with a slash', async () => {
    expect((await fetch(`${base}/api/things/7/`)).status).toBe(200);
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
    (await fetch(`${base}/api/things/1`, { headers: { 'x-request-id': 'mine' } })).headers.get(header);

  it('waits for the read models to pass the position it names', async () => {
    waitedFor.length = 0;
    await fetch(`${base}/api/things/1`, { headers: { 'x-after-position': '41' } });
    await fetch(`${base}/api/things/1`);
    expect(waitedFor).toEqual([[['agents', 'sources'], 41n]]);
    const refused = await fetch(`${base}/api/things/1`, { headers: { 'x-after-position': '-1' } });
    expect(refused.status).toBe(400);
  });

  it('gets the position of its write', async () => {
    const response = await post('/api/form', 'a=1&b=x%20y', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([response.headers.get('x-position'), await response.json()]).toEqual(['41', { a: '1', b: 'x y' }]);
  });
});

describe('pages of other origins', () => {
  it('may send the headers that clients need and read those of the service, also on refusals', async () => {
    const preflight = await fetch(`${base}/stream`, {
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

it('serves the interactive reference with its assets and the OpenAPI documents', async () => {
  const page = await fetch(`${base}/api/docs`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('swagger-ui')]);
  expect((await fetch(`${base}/api/docs/swagger-ui-bundle.js`)).status).toBe(200);
  expect(await (await fetch(`${base}/api/openapi.json`)).json()).toMatchObject({ openapi: '3.1.0', paths: { '/stream': {} } });
  expect(await (await fetch(`${base}/swagger.json`)).json()).toMatchObject({ swagger: '2.0', paths: { '/stream': {} } });
});
