import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Body, Controller, HttpCode, Module, Post, Req } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import { IsArray, IsInt, IsObject, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { JSON_ENTRIES_MAX, JSON_ESCAPES_MAX, JSON_LIMITS } from '../../../kernel/bounded-json.js';
import { Config, readConfig } from '../../config/config.js';
import { MCP_ENTRIES_MAX } from '../body-parsers.js';
import { FORM_FIELDS_MAX } from '../form-body.js';
import { createHttpApp } from '../http-server.js';
import { jsonBodyParser, jsonTextOf } from './json-body.js';
import { UNREAD_BYTES_MAX } from './unread-bodies.js';

class Item {
  @IsString() id!: string;
}

class Everything {
  @IsOptional() @IsString() @MaxLength(10) name?: string;
  @IsOptional() @IsObject() config?: Record<string, unknown>;
  @IsOptional() @IsArray() @ValidateNested({ each: true }) @Type(() => Item) items?: Item[];
  @IsOptional() @IsInt() @Transform(({ value }) => Number(value)) count?: number;
}

const MiB = 1024 * 1024;
const config = readConfig({});
const { bodyBytesMax, webhookBodyBytesMax } = config;

@Controller()
class Probe {
  @Post(['api/things', 'stream', 'v1/things', 'mcp'])
  @HttpCode(200)
  things(@Body() body: Everything) {
    return { ...body, isItem: body.items?.[0] instanceof Item };
  }

  @Post('api/sizes')
  @HttpCode(200)
  sizes(@Body() body: Record<string, unknown>) {
    return {
      fields: Object.keys(body).length,
      characters: Object.keys(body).concat(Object.values(body).map(String)).join('').length,
    };
  }

  @Post('api/webhooks/x')
  @HttpCode(200)
  webhook(@Req() request: FastifyRequest) {
    return { characters: jsonTextOf(request)!.length };
  }
}

const global = { module: class {}, global: true, providers: [{ provide: Config, useValue: config }], exports: [Config] };
@Module({ imports: [global], controllers: [Probe] })
class ProbeModule {}

let app: NestFastifyApplication;
let base: string;
beforeAll(async () => {
  app = await createHttpApp(ProbeModule, { ...config, readModels: [] }, { logger: false });
  await app.listen(0, '127.0.0.1');
  base = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
});
afterAll(() => app.close());

const JSON_TYPE = 'application/json';
const post = async (path: string, body: string | Buffer, type = JSON_TYPE) => {
  const response = await fetch(base + path, { method: 'POST', headers: { 'content-type': type }, body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const fields = (count: number, value = '1') => Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join();
const TOO_MANY = `The request body holds more than ${JSON_ENTRIES_MAX} fields of objects and elements of arrays.`;

describe('a body over a limit', () => {
  const many = JSON_ENTRIES_MAX + 1;
  it.each([
    ['fields', `{${fields(many)}}`],
    ['fields deep inside', `{"config":{"a":[{${fields(many)}}]}}`],
    ['elements', `{"items":[${'0,'.repeat(many)}0]}`],
    ['empty elements', `{"items":[${'[],'.repeat(many)}[]]}`],
    ['the same field', `{${'"name":1,'.repeat(many)}"name":1}`],
    ['prototypes', `{${'"__proto__":{},'.repeat(many)}"a":1}`],
    ['a truncated array', `{"a":[${'"",'.repeat(3 * MiB)}`],
  ])('(%s) is answered 413 on every route, in the format of the route', async (_, body) => {
    expect(await post('/api/things', body)).toEqual({ status: 413, body: { success: false, message: TOO_MANY } });
    expect(await post('/v1/things', body)).toMatchObject({ status: 413, body: { error: { message: TOO_MANY } } });
  });

  it('has fewer entries for the Model Context Protocol', async () => {
    const message = `The request body holds more than ${MCP_ENTRIES_MAX} fields of objects and elements of arrays.`;
    const answer = await post('/mcp?x=1', `{"items":[${'0,'.repeat(MCP_ENTRIES_MAX)}0]}`);
    expect(answer).toMatchObject({ status: 413, body: { error: { message } } });
    expect(await post('/mcp', `{"config":{${fields(MCP_ENTRIES_MAX - 1)}}}`)).toMatchObject({ status: 200 });
  });

  it('is refused at the byte that exceeds the limit, and the rest is not read', async () => {
    const pieces = 160;
    let taken = 0;
    const body = Readable.from(
      (function* () {
        for (; taken < pieces; taken++) yield Buffer.from('"a":1,'.repeat(10_000));
      })(),
      { objectMode: false },
    );
    const parse = jsonBodyParser(() => ({ bytesMax: bodyBytesMax, limits: JSON_LIMITS, isOnlyData: false }));
    await expect(parse({ headers: {} } as FastifyRequest, body)).rejects.toMatchObject({ code: 'too-large', message: TOO_MANY });
    // Two pieces are within the limit, and a stream reads one more ahead.
    expect(taken).toBeLessThanOrEqual(4);
  });

  it('of bytes is answered 413 before it arrives if its length is declared, and otherwise while it arrives', async () => {
    const tooLarge = `The request body is larger than ${bodyBytesMax} bytes.`;
    const told = await exchange(
      `POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${bodyBytesMax + 1}\r\n\r\n`,
    );
    expect(told.received).toMatch(/^HTTP\/1\.1 413/);
    expect(told.received).toContain(tooLarge);
    const untold = await exchange(
      `POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"\r\n`,
      {
        piece: `100000\r\n${'x'.repeat(MiB)}\r\n`,
      },
    );
    expect(untold.received).toContain(tooLarge);
  });

  it('in a form is answered 413', async () => {
    const form = 'application/x-www-form-urlencoded';
    const many = Array.from({ length: FORM_FIELDS_MAX + 1 }, (_, index) => `k${index}=1`);
    expect(await post('/api/sizes', many.slice(1).join('&'), form)).toMatchObject({
      status: 200,
      body: { fields: FORM_FIELDS_MAX },
    });
    expect(await post('/api/sizes', many.join('&'), form)).toMatchObject({ status: 413, body: { success: false } });
    expect(await post('/api/sizes', `a=${'%41'.repeat(MiB / 2)}`, form)).toMatchObject({ status: 413 });
    expect(await post('/api/sizes', '__proto__=1', form)).toMatchObject({ status: 400, body: { success: false } });
  });
});

describe('a large valid body', () => {
  const half = bodyBytesMax / 2 - 64;
  it.each([
    ['plain', 'x', half],
    ['escaped', String.raw`\u4e2d`, JSON_ESCAPES_MAX / 2],
    ['of two bytes', 'é', half / 2],
    ['of four bytes', '😀', half / 4],
  ])('is accepted whole: %s', async (_, character, count) => {
    const text = `"${character.repeat(count)}"`;
    const { status, body } = await post('/api/sizes', `{"a":${text},"b":${text}}`);
    expect([status, body]).toEqual([200, { fields: 2, characters: 2 * (JSON.parse(text) as string).length + 2 }]);
  });

  it('may have the maximum number of fields', async () => {
    expect(await post('/api/sizes', `{${fields(JSON_ENTRIES_MAX)}}`)).toMatchObject({
      status: 200,
      body: { fields: JSON_ENTRIES_MAX },
    });
  });

  it('may have any shape on a webhook, within the limit of bytes', async () => {
    const elements = `[${'0,'.repeat(webhookBodyBytesMax / 2 - 2)}0]`;
    expect(await post('/api/webhooks/x', elements)).toEqual({ status: 200, body: { characters: elements.length } });
    expect((await post('/api/webhooks/x', `{${fields(15_000, '{"__proto__":1}')}}`.slice(0, webhookBodyBytesMax))).status).toBe(
      400,
    );
    expect((await post('/api/webhooks/x', `{${fields(9_000, '{"__proto__":1}')}}`)).status).toBe(200);
    expect((await post('/api/webhooks/x', `"${'x'.repeat(webhookBodyBytesMax)}"`)).status).toBe(413);
  });
});

describe('the validation of a body', () => {
  it('converts fields to their declared types', async () => {
    const body = { name: 'x', config: { a: [1, { b: null }] }, items: [{ id: 'i', other: 1 }], count: '7', unknown: { c: 1 } };
    const made = { name: 'x', config: body.config, items: [{ id: 'i' }], count: 7, isItem: true };
    expect(await post('/api/things', JSON.stringify(body))).toEqual({ status: 200, body: made });
  });

  it.each([
    ['a wrong field inside', { items: [{ id: 1 }] }, /items\.0\.id must be a string/],
    ['a nested value that is not an object', { items: ['x'] }, /items/],
    ['a wrong number', { count: 'x' }, /count must be an integer/],
    ['more characters than allowed', { name: '😀'.repeat(11) }, /name must be shorter than or equal to 10 characters/],
    ['far more characters than allowed', { name: '😀'.repeat(MiB) }, /name must be shorter than or equal to 10 characters/],
    ['characters that are not counted', { name: '\uFE0F'.repeat(MiB) }, /name must be shorter than or equal to 10 characters/],
  ])('rejects %s', async (_, body, text) => {
    const reply = await post('/api/things', JSON.stringify(body));
    expect([reply.status, reply.body['message']]).toEqual([400, expect.stringMatching(text)]);
  });

  it('counts an emoji with its modifiers as one character', async () => {
    expect((await post('/api/things', JSON.stringify({ name: '😀❤️'.repeat(5) }))).status).toBe(200);
  });

  it('does not read unknown fields or the contents of an object', async () => {
    let reads = 0;
    const counted = (target: object) => new Proxy(target, { get: (of, name) => (reads++, Reflect.get(of, name) as unknown) });
    const { dtoOf } = await import('../dto.js');
    const count = 10_000;
    const many = Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
    const dto = dtoOf(Everything, counted({ ...many, name: 'x', config: counted(many) }));
    expect(reads).toBeLessThan(10);
    expect(Object.keys(dto).filter((name) => dto[name as keyof Everything] !== undefined)).toEqual(['name', 'config']);
  });

  it('rejects bytes that are not valid UTF-8', async () => {
    const reply = await post('/api/things', Buffer.from([0x22, 0xff, 0x22]));
    expect(reply).toMatchObject({ status: 400, body: { message: 'The request body is not valid UTF-8.' } });
  });
});

/** Sends a head and then the same piece until the server closes the connection. */
async function exchange(head: string, { piece = '' } = {}) {
  const server = app.getHttpServer();
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  const [peer] = await accepted;
  const closed = new Promise((resolve) => peer.once('close', resolve));
  let received = '';
  socket.on('data', (text) => (received += text.toString())).on('error', () => undefined);
  socket.write(head);
  const send = (failure?: Error | null): void => {
    if (!failure && !socket.destroyed) socket.write(piece, send);
  };
  if (piece !== '') send();
  if (piece === '') {
    await once(socket, 'data');
    socket.destroy();
  }
  await closed;
  return { received, taken: peer.bytesRead };
}

describe('a client that continues to send after a refusal', () => {
  const head = (length: number) =>
    `POST /api/things HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${length}\r\n\r\n`;

  it('gets the response and is then disconnected', async () => {
    const { received, taken } = await exchange(head(bodyBytesMax), { piece: '"a":{},'.repeat(10_000) });
    expect(received).toMatch(/^HTTP\/1\.1 413/);
    expect(received).toContain(TOO_MANY);
    expect(taken).toBeLessThan(8 * JSON_ENTRIES_MAX + UNREAD_BYTES_MAX + 4 * 64 * 1024);
  });

  it('is also disconnected when its body was refused unread', async () => {
    const { received, taken } = await exchange(head(100 * MiB), { piece: 'x'.repeat(64 * 1024) });
    expect(received).toMatch(/^HTTP\/1\.1 413/);
    // The header tells the client not to send its next request on this connection.
    expect(received).toMatch(/^connection: close\r$/im);
    expect(taken).toBeLessThan(UNREAD_BYTES_MAX + 4 * 64 * 1024);
  });

  it('keeps its connection when little of its body was left', async () => {
    const body = `{${fields(JSON_ENTRIES_MAX)},"a":1,"b":"${'x'.repeat(UNREAD_BYTES_MAX / 2)}"}`;
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    let received = '';
    socket.on('data', (text) => (received += text.toString()));
    socket.write(head(Buffer.byteLength(body)) + body);
    socket.end(`${head(2).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')}{}`);
    await once(socket, 'close');
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });
});
