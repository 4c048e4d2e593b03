import { Controller, Headers, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedInUser } from '../identity/caller.js';
import { CurrentUser } from '../identity/identity.http.js';
import { Rejection } from '../../kernel/rejection.js';
import { UploadIntake } from './upload-intake.js';
import { CONFIG_FIELD, SOURCE_ADDED } from './source-config.dto.js';
import { SearchAbilities, warningsAbout } from './source/source-config-warnings.policy.js';
import { DOCUMENT_EXTENSIONS } from '../documents/document.port.js';
import { type FormPart, UploadStaging } from '../../platform/blobs/upload-staging.port.js';
import { DocumentedBody, OptionalHeader } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';

type MultipartRequest = FastifyRequest & { isMultipart(): boolean; parts(): AsyncIterable<FormPart> };

const UPLOAD_FORM = {
  type: 'object',
  required: ['name', 'file'],
  properties: {
    name: { type: 'string' },
    user: { type: 'string', description: 'Ignored. The source belongs to the uploader.' },
    config: CONFIG_FIELD,
    file: {
      type: 'array',
      items: { type: 'string', format: 'binary' },
      description: `Of these kinds: ${DOCUMENT_EXTENSIONS.join(', ')}. A zip is unpacked to the documents in it; the task’s result names the files that are not read.`,
    },
  },
};

@ApiTags('Sources')
@Controller('api')
export class UploadController {
  constructor(
    private readonly staging: UploadStaging,
    private readonly intake: UploadIntake,
    private readonly abilities: SearchAbilities,
  ) {}

  @Access({ for: 'user', action: 'create', of: 'sources', scopes: ['sources:write'] })
  @Post('upload')
  @HttpCode(200)
  @ApiOperation({ summary: 'Creates a source from files and begins to ingest it' })
  @ApiConsumes('multipart/form-data')
  @DocumentedBody({ schema: UPLOAD_FORM }, { name: 'Handbook', file: 'Tea is at four.' })
  @ApiOkResponse(SOURCE_ADDED)
  @OptionalHeader('Idempotency-Key')
  async upload(
    @CurrentUser() user: SignedInUser,
    @Req() request: MultipartRequest,
    @Confirms('sources') confirm: Confirm,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Headers('Idempotency-Key') key?: string,
  ) {
    if (!request.isMultipart()) throw new Rejection('invalid-request', 'Missing required fields or files');
    const accepted = await this.staging.receive(request.parts(), (upload) => this.intake.accept(upload, user, key));
    await confirm(accepted.position);
    if (accepted.again) void reply.header('Idempotent-Replayed', 'true');
    const warnings = warningsAbout(accepted.config, this.abilities);
    // Older clients read the status.
    return { success: true, status: 'ok', task_id: accepted.taskId, source_id: accepted.sourceId, warnings };
  }
}
