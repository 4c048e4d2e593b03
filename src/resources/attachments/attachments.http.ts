import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiConsumes, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AgentKeyCaller } from '../identity/caller.js';
import type { Identity } from '../identity/identity.js';
import { RequestIdentity } from '../identity/identity.http.js';
import { Rejection } from '../../kernel/rejection.js';
import { answerPosition } from '../../platform/http/positions.js';
import { gatedParts, UNAUTHENTICATED_UPLOAD_BYTES_MAX } from '../../platform/http/bodies/upload-gate.js';
import { type FormPart, type ReceivedUpload, UploadStaging } from '../../platform/blobs/upload-staging.port.js';
import { type AcceptedFiles, AttachmentIntake, errorsOf } from './attachment-intake.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';

/** Lifts the multipart parser's limit. The upload staging skips files that are too large and counts them for the whole request. */
const EVERY_FILE = { throwFileSizeLimit: false, limits: { fileSize: Infinity } };

/** The form field that may hold an agent's key. */
const KEY_FIELD = 'api_key';

type FormField = Extract<FormPart, { type: 'field' }>;

type MultipartRequest = FastifyRequest & {
  isMultipart(): boolean;
  parts(options: typeof EVERY_FILE): AsyncIterable<FormPart>;
};

const ATTACHMENT_FORM = {
  type: 'object',
  required: ['file'],
  properties: {
    api_key: {
      type: 'string',
      description: `An agent’s key; not needed with a session. In a form of more than ${UNAUTHENTICATED_UPLOAD_BYTES_MAX} bytes it must precede the files, else the answer is 401. It may also be in the query or the header X-API-Key.`,
    },
    file: { type: 'array', items: { type: 'string', format: 'binary' } },
  },
};

@ApiTags('Attachments')
@Controller('api')
export class AttachmentsController {
  constructor(
    private readonly staging: UploadStaging,
    private readonly intake: AttachmentIntake,
  ) {}

  @Access({ for: 'caller', action: 'create', of: 'attachments', scopes: ['chat:run'] })
  @Post('store_attachment')
  @HttpCode(200)
  @ApiOperation({ summary: 'Stores files that questions can refer to, and begins to parse them' })
  @ApiConsumes('multipart/form-data')
  @DocumentedBody({ schema: ATTACHMENT_FORM }, { file: 'Tea is at four.' })
  async store(
    @RequestIdentity() identity: Identity,
    @Req() request: MultipartRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const holder = await identity.agentKeyBesideSession();
    if (!request.isMultipart()) throw new Rejection('invalid-request', 'Missing file(s)');
    const work = async (upload: ReceivedUpload) => {
      const holderInForm = await holderIn(upload.fields.get(KEY_FIELD), identity);
      const uploader = identity.user ?? holder ?? holderInForm;
      if (upload.files.length + upload.oversized.length === 0) throw new Rejection('invalid-request', 'Missing file(s)');
      if (!uploader) throw new Rejection('unauthenticated', 'Authentication required');
      return this.intake.accept(upload, uploader);
    };
    const parts = request.parts(EVERY_FILE);
    const isCredential = async ({ fieldname, value }: FormField) =>
      fieldname === KEY_FIELD && (await holderIn(value, identity)) !== undefined;
    const gated = identity.user || holder ? parts : gatedParts(request.raw, parts, isCredential);
    const files = await this.staging.receive(gated, work, 'one-by-one');
    answerPosition(reply, files.position);
    return bodyOf(files);
  }
}

/** The holder of the key in a form field. Undefined if the field is empty. @throws Rejection unknown-agent-key */
async function holderIn(field: unknown, identity: Identity): Promise<AgentKeyCaller | undefined> {
  const key = typeof field === 'string' ? field.trim() : '';
  return key === '' ? undefined : identity.fieldKeyBesideSession(key);
}

function bodyOf({ accepted, refused }: AcceptedFiles) {
  const tasks = accepted.map(({ place, filename, attachmentId, taskId }) => ({
    task_id: taskId,
    filename,
    attachment_id: attachmentId,
    upload_index: place,
  }));
  if (tasks.length === 1 && refused.length === 0) {
    const { task_id, attachment_id } = tasks[0]!;
    return { success: true, task_id, attachment_id, message: 'The file was uploaded and is being read.' };
  }
  const message = `${tasks.length} of ${tasks.length + refused.length} files were uploaded and are being read.`;
  return { success: true, tasks, message, ...(refused.length > 0 && { errors: errorsOf(refused) }) };
}
