import { Body, Controller, Headers, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SignedInUser } from '../identity/caller.js';
import { CurrentUser } from '../identity/identity.http.js';
import { RemoteIntake } from './remote-intake.js';
import type { RemoteFields } from './remote/remote-request.policy.js';
import { CONFIG_FIELD, SOURCE_ADDED } from './source-config.dto.js';
import { SearchAbilities, warningsAbout } from './source/source-config-warnings.policy.js';
import { REMOTE_KINDS } from './source/source.events.js';
import { SYNC_FREQUENCIES } from './source/sync.policy.js';
import { storableText } from '../documents/storable-text.policy.js';
import { type FormPart, UploadStaging } from '../../platform/blobs/upload-staging.port.js';
import { DocumentedBody, OptionalHeader } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';

type MultipartRequest = FastifyRequest & { isMultipart(): boolean; parts(): AsyncIterable<FormPart> };

const REMOTE_FORM = {
  type: 'object',
  required: ['source', 'name', 'data'],
  properties: {
    source: { type: 'string', enum: [...REMOTE_KINDS] },
    name: { type: 'string' },
    data: {
      type: 'string',
      description: [
        'JSON, by `source`.',
        '`url`, `sitemap`, `crawler`: {"url": one address or several}.',
        '`github`: {"repo_url": a repository, also with `/tree/branch/path`, "access_token": for a private one}.',
        '`s3`: {"aws_access_key_id", "aws_secret_access_key", "bucket", "prefix": "", "region": "us-east-1",',
        '"endpoint_url": of a compatible store}.',
        `Each may have "sync_frequency", how often it is fetched again: ${SYNC_FREQUENCIES.join(', ')}.`,
        'Credentials are stored sealed and are never shown.',
      ].join(' '),
    },
    user: { type: 'string', description: 'Ignored. The source belongs to the caller.' },
    config: CONFIG_FIELD,
  },
};

@ApiTags('Sources')
@Controller('api')
export class RemoteController {
  constructor(
    private readonly staging: UploadStaging,
    private readonly intake: RemoteIntake,
    private readonly abilities: SearchAbilities,
  ) {}

  @Access({ for: 'user', action: 'create', of: 'sources', scopes: ['sources:write'] })
  @Post('remote')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Creates a source from web pages or from the files of a repository or a bucket, and begins to fetch them',
  })
  @ApiConsumes('multipart/form-data', 'application/x-www-form-urlencoded', 'application/json')
  @DocumentedBody({ schema: REMOTE_FORM }, { source: 'url', name: 'Handbook', data: '{"url": "https://example.com/handbook"}' })
  @ApiOkResponse(SOURCE_ADDED)
  @OptionalHeader('Idempotency-Key')
  async remote(
    @CurrentUser() user: SignedInUser,
    @Req() request: MultipartRequest,
    @Confirms('sources') confirm: Confirm,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: unknown,
    @Headers('Idempotency-Key') key?: string,
  ) {
    const accepted = request.isMultipart()
      ? await this.staging.receive(request.parts(), ({ fields }) =>
          this.intake.accept(
            fieldsOf((name) => fields.get(name)),
            user,
            key,
          ),
        )
      : await this.intake.accept(
          fieldsOf((name) => (body as Record<string, unknown> | null | undefined)?.[name]),
          user,
          key,
        );
    await confirm(accepted.position);
    if (accepted.again) void reply.header('Idempotent-Replayed', 'true');
    const warnings = warningsAbout(accepted.config, this.abilities);
    return { success: true, status: 'ok', task_id: accepted.taskId, source_id: accepted.sourceId, warnings };
  }
}

function fieldsOf(field: (name: string) => unknown): RemoteFields {
  const text = (name: string): string | undefined => {
    const value = field(name);
    return typeof value === 'string' ? value : undefined;
  };
  // A form holds JSON as text. A JSON body may also hold it as an object.
  const json = (name: string): string | undefined => {
    const value = field(name);
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : text(name);
  };
  const storable = (value: string | undefined) => value && storableText(value);
  return { source: text('source'), name: text('name'), data: storable(json('data')), config: storable(json('config')) };
}
