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
import { afterAll, beforeAll } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import { IsArray, IsEmail, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { KeyValueUnavailable } from '../../src/kernel/messaging/key-value.js';
import { AppendTooLarge, StoreUnavailable, WrongRevision } from '../../src/kernel/event-sourcing/event-store.js';
import { Freshness } from '../../src/kernel/event-sourcing/freshness.js';
import { Rejection } from '../../src/kernel/rejection.js';
import { serveApiReference } from '../../src/platform/http/api-reference.js';
import { createHttpApp, type HttpOptions } from '../../src/platform/http/http-server.js';
import { JsonBodyOnly } from '../../src/platform/http/bodies/json-body-only.js';
import { answerPosition } from '../../src/platform/http/positions.js';
import { conversationRejections } from '../../src/dialogue/conversation/conversation.rejections.js';
import { identityRejections } from '../../src/resources/identity/identity.rejections.js';
import { limitsRejections } from '../../src/work/limits/limits.rejections.js';

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

/** The read models and positions that requests have waited for. */
export const waitedFor: unknown[] = [];

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

export const options: HttpOptions = {
  rejections: { ...identityRejections, ...conversationRejections, ...limitsRejections },
  bodyBytesMax: 64 * 1024,
  bodyEntriesMax: 1_000,
  webhookBodyBytesMax: 16 * 1024,
  uploadRequestBytesMax: 32 * 1024,
  uploadFileBytesMax: 1024,
  uploadFilesMax: 3,
  allowedOrigins: [],
  trustedProxies: [],
  shutdownMs: 1000,
  sseStallMs: 1000,
  connectionsMax: undefined,
  databasePoolMax: 10,
  readModels: ['agents', 'sources'],
};

let app: NestFastifyApplication;
let base: string;

/** Starts the server before the tests of a suite, and stops it after them. */
export function serveProbe(): void {
  beforeAll(async () => {
    app = await createHttpApp(ProbeModule, options, { logger: false });
    serveApiReference(app);
    await app.listen(0, '127.0.0.1');
    base = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
  });
  afterAll(() => app.close());
}

/** `fetch` of a path of the server. */
export const call = (path: string, init?: RequestInit): Promise<Response> => fetch(base + path, init);

export const JSON_TYPE = { 'content-type': 'application/json' };
export const post = (path: string, body: string | object, headers: Record<string, string> = JSON_TYPE) =>
  fetch(base + path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
export const ask = (path: string, question: string) => post(path, { question });

/** A request with exactly the given headers. `fetch` would add some. */
export const raw = (method: string, path: string, body = '', headers: Record<string, string> = {}) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const request = http.request(base + path, { method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve({ status: response.statusCode!, body: text }));
    });
    request.on('error', reject).end(body);
  });
