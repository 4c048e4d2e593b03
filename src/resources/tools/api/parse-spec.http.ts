import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { SignedInUser } from '../../identity/caller.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { Rejection } from '../../../kernel/rejection.js';
import { parseSpec } from './spec-actions.js';
import { SpecDocuments } from './spec-document.js';
import { refuseIncompleteForm } from '../../../kernel/form-refusals.js';
import { DocumentedBodies } from '../../../platform/http/documented.js';
import { Access } from '../../../platform/http/access.js';

/** The maximum size of an API description. */
export abstract class SpecLimits {
  abstract readonly specBytesMax: number;
}

type UploadedFile = Readonly<{ toBuffer(): Promise<Buffer> }>;
type UploadRequest = FastifyRequest & {
  isMultipart(): boolean;
  file(options: { limits: { fileSize: number } }): Promise<UploadedFile | undefined>;
};

const SPEC = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1' },
  servers: [{ url: 'https://weather.example' }],
  paths: { '/today': { get: { operationId: 'today', responses: { 200: { description: 'The weather of today.' } } } } },
});

const BODIES = {
  'multipart/form-data': {
    schema: { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } },
    example: { file: SPEC },
  },
  'application/json': {
    schema: { type: 'object', required: ['spec_content'], properties: { spec_content: { type: 'string' } } },
    example: { spec_content: SPEC },
  },
};

@ApiTags('Tools')
@Controller('api')
export class ParseSpecController {
  constructor(
    private readonly limits: SpecLimits,
    private readonly documents: SpecDocuments,
  ) {}

  @Access({ for: 'user', action: 'describe', of: 'tools', scopes: ['tools:write'] })
  @Post('parse_spec')
  @HttpCode(200)
  @ApiOperation({ summary: 'Makes actions from an API description (OpenAPI 3.0 and 3.1, Swagger 2.0); nothing is stored' })
  @DocumentedBodies(BODIES)
  async parse(@CurrentUser() _user: SignedInUser, @Req() request: UploadRequest, @Body() body: unknown) {
    const text = request.isMultipart() ? await this.uploaded(request).catch(refuseIncompleteForm) : this.inBody(body);
    return { success: true, ...parseSpec(await this.documents.read(text)) };
  }

  private async uploaded(request: UploadRequest): Promise<string> {
    const file = await request.file({ limits: { fileSize: this.limits.specBytesMax } });
    if (!file) throw nothingGiven();
    const bytes = await file.toBuffer().catch((error: unknown) => {
      if ((error as { code?: unknown }).code === 'FST_REQ_FILE_TOO_LARGE') throw this.tooLarge();
      throw error;
    });
    if (bytes.byteLength === 0) throw nothingGiven();
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch (error) {
      throw error instanceof TypeError ? new Rejection('invalid-request', 'The file is not text in UTF-8.') : error;
    }
  }

  private inBody(body: unknown): string {
    const text = typeof body === 'object' && body !== null && 'spec_content' in body ? body.spec_content : undefined;
    if (typeof text !== 'string' || text.trim() === '') throw nothingGiven();
    if (Buffer.byteLength(text) > this.limits.specBytesMax) throw this.tooLarge();
    return text;
  }

  private tooLarge(): Rejection {
    return new Rejection('too-large', `The specification is larger than ${this.limits.specBytesMax} bytes.`);
  }
}

const nothingGiven = () => new Rejection('invalid-request', 'No specification was given: send a file, or spec_content as text.');
