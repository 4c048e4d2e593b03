import { Body, Controller, Delete, HttpCode, Post, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { IsNotEmpty, IsObject, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { type SourceRecord, SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody, RequiredQuery } from '../../../platform/http/documented.js';
import { storableText } from '../../documents/storable-text.policy.js';
import type { SignedInUser } from '../../identity/caller.js';
import { Reaching } from '../../identity/reaching.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { sourceNotFound } from '../source/source.decider.js';
import { ChunkEdits, type ChunkText } from './chunk-edits.js';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';
import { inBody, inQuery } from '../../../kernel/access.js';

const TEXT_CHARACTERS_MAX = 32_000;
const TITLE_CHARACTERS_MAX = 200;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
/** The filename of chunks that an owner added without one. */
const WRITTEN_BY_HAND = 'added.txt';

const NOT_BLANK = { message: 'text must not be blank' };

class NewChunk {
  @IsString() @IsNotEmpty() id!: string;
  @IsString() @Matches(/\S/, NOT_BLANK) @MaxLength(TEXT_CHARACTERS_MAX) text!: string;
  /** Only `title` and `filename` are stored. Without a `filename`, a `source` that is the path of a file of the source is it. */
  @IsOptional() @IsObject() metadata?: Record<string, unknown> | null;
}

class ChunkChange {
  @IsString() @IsNotEmpty() id!: string;
  @IsString() @IsNotEmpty() chunk_id!: string;
  @IsOptional() @IsString() @Matches(/\S/, NOT_BLANK) @MaxLength(TEXT_CHARACTERS_MAX) text?: string | null;
  /** Only `title` and `filename` are stored. */
  @IsOptional() @IsObject() metadata?: Record<string, unknown> | null;
}

/** The routes by which the owner and the editors of a source edit its chunks. */
@ApiTags('Sources')
@Controller('api')
export class ChunkEditsController {
  constructor(
    private readonly edits: ChunkEdits,
    private readonly sources: SourceQueries,
    private readonly reaching: Reaching,
  ) {}

  @ApiOperation({ summary: 'Adds a chunk, which is searched until the source is ingested again' })
  @DocumentedBody({ type: NewChunk }, { id: UNKNOWN, text: 'Tea is at four.', metadata: { title: 'Tea' } })
  @Access({ for: 'user', action: 'change', of: 'sources', scopes: ['sources:write'], at: inBody('id'), granted: 'edit' })
  @Post('add_chunk')
  @HttpCode(201)
  async add(@CurrentUser() user: SignedInUser, @Confirms('chunks') confirm: Confirm, @Body() body: NewChunk) {
    const source = await this.editable(user, body.id);
    const { title = source.name, filename = fileNamedIn(body.metadata, source) ?? WRITTEN_BY_HAND } = namesIn(body.metadata);
    const chunk = { text: storableText(body.text), title, filename };
    const { chunkId, position } = await this.edits.add(source, chunk, user.cause);
    await confirm(position);
    return { message: 'Chunk added successfully', chunk_id: chunkId };
  }

  @ApiOperation({ summary: 'Changes a chunk; fields that are left out keep their value' })
  @DocumentedBody({ type: ChunkChange }, { id: UNKNOWN, chunk_id: `${UNKNOWN}-0`, text: 'Tea is at five.' })
  @Access({ for: 'user', action: 'change', of: 'sources', scopes: ['sources:write'], at: inBody('id'), granted: 'edit' })
  @Put('update_chunk')
  async change(@CurrentUser() user: SignedInUser, @Confirms('chunks') confirm: Confirm, @Body() body: ChunkChange) {
    const source = await this.editable(user, body.id);
    const changes = { ...namesIn(body.metadata), ...(typeof body.text === 'string' && { text: storableText(body.text) }) };
    const { chunkId, position } = await this.edits.change(source, body.chunk_id, changes, user.cause);
    await confirm(position);
    return { message: 'Chunk updated successfully', chunk_id: chunkId, original_chunk_id: body.chunk_id };
  }

  @ApiOperation({ summary: 'Removes a chunk' })
  @RequiredQuery('id', 'chunk_id')
  @Access({ for: 'user', action: 'change', of: 'sources', scopes: ['sources:write'], at: inQuery('id'), granted: 'edit' })
  @Delete('delete_chunk')
  async remove(
    @CurrentUser() user: SignedInUser,
    @Confirms('chunks') confirm: Confirm,
    @Query('id') id?: string,
    @Query('chunk_id') chunkId?: string,
  ) {
    if (!id || !chunkId) throw new Rejection('invalid-request', 'Missing required fields: id, chunk_id');
    const { position } = await this.edits.remove(await this.editable(user, id), chunkId, user.cause);
    await confirm(position);
    return { message: 'Chunk deleted successfully' };
  }

  private async editable(user: SignedInUser, id: string): Promise<SourceRecord> {
    const source = isId(id) ? await this.sources.byId(id) : undefined;
    return this.reaching.reached(user, source, 'sources', 'edit', sourceNotFound);
  }
}

/** The file to which a client adds a chunk. The web client names it as `source`, or the source itself where it shows no single file. */
const fileNamedIn = (metadata: NewChunk['metadata'], { files }: SourceRecord): string | undefined =>
  files.find(({ filename }) => filename === metadata?.['source'])?.filename;

function namesIn(metadata: Readonly<Record<string, unknown>> | null | undefined): Partial<Omit<ChunkText, 'text'>> {
  const { title, filename } = metadata ?? {};
  const shown = (text: string) => storableText(text).slice(0, TITLE_CHARACTERS_MAX).toWellFormed();
  return {
    ...(typeof title === 'string' && title !== '' && { title: shown(title) }),
    ...(typeof filename === 'string' && filename !== '' && { filename: shown(filename) }),
  };
}
