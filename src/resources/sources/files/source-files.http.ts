import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { Blobs } from '../../../kernel/blobs.js';
import { Commands } from '../../../kernel/commands.js';
import { isId, newId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { type FormPart, type StagedFile, UploadStaging } from '../../../platform/blobs/upload-staging.port.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody } from '../../../platform/http/documented.js';
import { isArchiveName } from '../../documents/archive-name.policy.js';
import { Archives } from '../../documents/archive.port.js';
import { Documents } from '../../documents/document.port.js';
import type { SignedInUser } from '../../identity/caller.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { Reaching } from '../../identity/reaching.js';
import { sourceNotFound } from '../source/source.decider.js';
import type { SourceFile } from '../source/source.events.js';
import { fileChangeIn, type FileChangeRequest } from './file-change-request.policy.js';
import { ChangeSourceFiles } from './source-files.commands.js';
import type { FileChange } from './source-files.decider.js';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';
import { inBody } from '../../../kernel/access.js';
import { isJsonObject } from '../../json-object.policy.js';

type FormRequest = FastifyRequest & { isMultipart(): boolean; parts(): AsyncIterable<FormPart> };
type Received = Readonly<{ field: (name: string) => unknown; files: readonly StagedFile[] }>;

const FORM = {
  type: 'object',
  required: ['source_id', 'operation'],
  properties: {
    source_id: { type: 'string' },
    operation: { type: 'string', enum: ['add', 'remove', 'remove_directory'] },
    file: { type: 'array', items: { type: 'string', format: 'binary' }, description: 'For `add`, only in a form.' },
    parent_dir: { type: 'string', description: 'For `add`: the directory in the source to which the files are added.' },
    file_paths: { type: 'string', description: 'For `remove`: a JSON array of paths in the source.' },
    directory_path: { type: 'string', description: 'For `remove_directory`: the directory in the source.' },
  },
};
const EXAMPLE = { source_id: '00000000-0000-4000-8000-000000000000', operation: 'remove', file_paths: '["old.md"]' };
const paths = { type: 'array', items: { type: 'string' } };
const CHANGED = {
  schema: {
    type: 'object',
    properties: {
      success: { type: 'boolean' },
      message: { type: 'string' },
      source_id: { type: 'string' },
      reingest_task_id: { type: 'string', description: 'The task of the ingestion, for `GET /api/task_status`.' },
      added_files: paths,
      parent_dir: { type: 'string' },
      removed_files: paths,
      removed_directory: { type: 'string' },
    },
  },
};

/** The route that adds and removes single files of an uploaded source. */
@ApiTags('Sources')
@Controller('api')
export class SourceFilesController {
  constructor(
    private readonly commands: Commands,
    private readonly sources: SourceQueries,
    private readonly reaching: Reaching,
    private readonly staging: UploadStaging,
    private readonly blobs: Blobs,
    private readonly documents: Documents,
    private readonly archives: Archives,
  ) {}

  @Access({ for: 'user', action: 'change', of: 'sources', scopes: ['sources:write'], at: inBody('source_id'), granted: 'edit' })
  @Post('manage_source_files')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Adds files to an uploaded source or removes some, and ingests it again',
    description:
      'The previous files are searched until the ingestion is complete. Answers 409 during an ingestion, and 400 for a source that is fetched from elsewhere. ' +
      'A token that is restricted to some sources needs a JSON body, which names the source.',
  })
  @ApiConsumes('multipart/form-data', 'application/json')
  @DocumentedBody({ schema: FORM }, EXAMPLE)
  @ApiOkResponse(CHANGED)
  async manage(@CurrentUser() user: SignedInUser, @Req() request: FormRequest, @Confirms('sources') confirm: Confirm) {
    if (request.isMultipart()) {
      return this.staging.receive(request.parts(), ({ fields, files }) =>
        this.change({ field: (name) => fields.get(name), files }, user, confirm),
      );
    }
    const body: unknown = request.body;
    const given = isJsonObject(body) ? body : {};
    return this.change({ field: (name) => given[name], files: [] }, user, confirm);
  }

  private async change({ field, files }: Received, user: SignedInUser, confirm: Confirm) {
    const sourceId = field('source_id');
    if (sourceId === undefined || sourceId === null || sourceId === '')
      throw new Rejection('invalid-request', 'Missing required fields: source_id');
    const asked = fileChangeIn(field);
    if (!isId(sourceId)) throw sourceNotFound();
    const { ownerId } = await this.reaching.reached(user, await this.sources.byId(sourceId), 'sources', 'edit', sourceNotFound);
    const [change, told] = await this.changeOf(asked, files);
    const ingestId = newId();
    const { position } = await this.commands.execute(new ChangeSourceFiles(sourceId, ownerId, ingestId, change, user.cause));
    await confirm(position);
    return { success: true, ...told, reingest_task_id: ingestId, source_id: sourceId };
  }

  /** The change, and the fields of the reply that describe it. Validates all files before it stores one. */
  private async changeOf(asked: FileChangeRequest, files: readonly StagedFile[]): Promise<readonly [FileChange, object]> {
    switch (asked.operation) {
      case 'add': {
        if (files.length === 0) throw new Rejection('invalid-request', 'Missing required fields: file');
        for (const { filename, path } of files)
          await (isArchiveName(filename) ? this.archives : this.documents).check(filename, path);
        const add: SourceFile[] = [];
        const below = asked.parentDirectory === '' ? '' : `${asked.parentDirectory}/`;
        for (const { filename, open } of files) add.push({ filename: below + filename, ...(await this.blobs.put(open())) });
        const added = files.map(({ filename }) => filename);
        return [{ add }, { message: `Added ${added.length} files`, added_files: added, parent_dir: asked.parentDirectory }];
      }
      case 'remove':
        return [{ remove: asked.paths }, { message: `Removed ${asked.paths.length} files`, removed_files: asked.paths }];
      case 'remove_directory':
        return [
          { removeDirectory: asked.directory },
          { message: `Removed directory: ${asked.directory}`, removed_directory: asked.directory },
        ];
    }
  }
}
