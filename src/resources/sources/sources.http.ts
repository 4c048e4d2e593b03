import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { type ResourceAction, inQuery } from '../../kernel/access.js';
import { Commands } from '../../kernel/commands.js';
import { ChunkQueries } from '../../../projections/chunks/chunks.queries.js';
import { type SourceOrder, SourceQueries, type SourceRecord } from '../../../projections/sources/sources.queries.js';
import type { SignedInUser } from '../identity/caller.js';
import { visible } from '../identity/access.policy.js';
import { Reaching } from '../identity/reaching.js';
import { CurrentUser } from '../identity/identity.http.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { DeleteSource } from './source/source.commands.js';
import { sourceNotFound } from './source/source.decider.js';
import { combinedRecord, defaultSource, pagedSourceRecord, sourceRecord } from './source-record.http.js';
import { directoryStructure } from './source/directory-structure.policy.js';
import { storableText } from '../documents/storable-text.policy.js';
import { OptionalQuery, RequiredQuery } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';

/** The embeddings model that lists show. Undefined if the service searches by words alone. */
export class SourceListing {
  constructor(readonly embeddingsModel: string | undefined) {}
}

const ROWS_DEFAULT = 10;
const ROWS_MAX = 100;
const ORDERS: readonly string[] = ['date', 'name', 'tokens'] satisfies SourceOrder['by'][];

type Asked = string | undefined;
type ListedSource = ReturnType<typeof defaultSource> | ReturnType<typeof sourceRecord>;

/** The routes of a user's sources. */
@ApiTags('Sources')
@Controller('api')
export class SourcesController {
  constructor(
    private readonly commands: Commands,
    private readonly sources: SourceQueries,
    private readonly chunks: ChunkQueries,
    private readonly listing: SourceListing,
    private readonly reaching: Reaching,
  ) {}

  @Access({ for: 'user', action: 'list', of: 'sources', scopes: ['sources:read'] })
  @Get('sources')
  @ApiOperation({ summary: 'Lists all sources, newest first, after an entry for no source' })
  async all(@CurrentUser() user: SignedInUser): Promise<readonly ListedSource[]> {
    const { embeddingsModel } = this.listing;
    const [own, held] = await Promise.all([this.sources.ownedBy(user.userId), this.reaching.held(user.userId, 'sources')]);
    const sources = visible(user, 'sources', [...own, ...(await this.sources.among([...held.keys()]))]);
    return [
      defaultSource(embeddingsModel),
      ...sources.map((source) => sourceRecord(source, embeddingsModel, held.get(source.id))),
    ];
  }

  @Access({ for: 'user', action: 'list', of: 'sources' })
  @Get('combine')
  @ApiOperation({ summary: 'Lists all sources in the form of older clients' })
  async combine(@CurrentUser() user: SignedInUser) {
    const own = await this.sources.ownedBy(user.userId);
    return [undefined, ...own].map((source) => combinedRecord(source, this.listing.embeddingsModel));
  }

  @ApiOperation({ summary: 'Lists the user’s sources, and those of others that the user has by teams, by page' })
  @OptionalQuery('sort', 'order', 'page', 'rows', 'search')
  @Access({ for: 'user', action: 'search', of: 'sources', scopes: ['sources:read'] })
  @Get('sources/paginated')
  async page(
    @CurrentUser() user: SignedInUser,
    @Query('sort') sort: Asked,
    @Query('order') order: Asked,
    @Query('page') page: Asked,
    @Query('rows') rows: Asked,
    @Query('search') search: Asked,
  ) {
    const ordered = orderIn(sort, order);
    const limit = Math.min(ROWS_MAX, wholeNumber('rows', rows, ROWS_DEFAULT));
    const wanted = wholeNumber('page', page, 1);
    const term = textIn('search', search);
    const held = await this.reaching.held(user.userId, 'sources');
    const ids = [...held.keys()];
    const read = (at: number) => this.sources.page(user.userId, ids, term, ordered, limit, (at - 1) * limit);
    const first = await read(wanted);
    const totalPages = Math.max(1, Math.ceil(first.total / limit));
    const currentPage = Math.min(wanted, totalPages);
    const { records } = currentPage === wanted ? first : await read(currentPage);
    const paginated = records.map((source) => pagedSourceRecord(source, this.listing.embeddingsModel, held.get(source.id)));
    return { total: first.total, totalPages, currentPage, paginated };
  }

  @OptionalQuery('source_id', 'task_id')
  @Access({
    for: 'user',
    action: 'delete',
    of: 'sources',
    scopes: ['sources:write'],
    at: inQuery('source_id'),
    granted: 'delete',
  })
  @Get('delete_old')
  @ApiOperation({ summary: 'Deletes a source, named by its id or by the id of the task that ingested it' })
  async delete(
    @CurrentUser() user: SignedInUser,
    @Confirms('sources', 'chunks') confirm: Confirm,
    @Query('source_id') sourceId: Asked,
    @Query('task_id') taskId: Asked,
  ) {
    const { id, ownerId } = await this.reached(user, sourceId ? sourceId : await this.ingestedBy(taskId), 'delete');
    const { position } = await this.commands.execute(new DeleteSource(id, ownerId, user.cause));
    await confirm(position);
    return { success: true, status: 'ok' };
  }

  @ApiOperation({ summary: 'Returns the files of a source as a tree' })
  @RequiredQuery('id')
  @Access({ for: 'user', action: 'read', of: 'sources', scopes: ['sources:read'], at: inQuery('id'), granted: 'view' })
  @Get('directory_structure')
  async directory(@CurrentUser() user: SignedInUser, @Query('id') id: Asked) {
    const source = await this.reached(user, id, 'view');
    const structure = directoryStructure(source.files, await this.chunks.tokensByFile(source.id));
    return {
      success: true,
      directory_structure: structure,
      base_path: `inputs/${source.ownerId}/${source.name}`,
      provider: 'file',
    };
  }

  @ApiOperation({ summary: 'Lists the chunks of a source by page' })
  @RequiredQuery('id')
  @OptionalQuery('page', 'per_page', 'path', 'search')
  @Access({ for: 'user', action: 'read', of: 'sources', scopes: ['sources:read'], at: inQuery('id'), granted: 'view' })
  @Get('get_chunks')
  async chunksOf(
    @CurrentUser() user: SignedInUser,
    @Query('id') id: Asked,
    @Query('page') page: Asked,
    @Query('per_page') perPage: Asked,
    @Query('path') path: Asked,
    @Query('search') search: Asked,
  ) {
    const limit = Math.min(ROWS_MAX, wholeNumber('per_page', perPage, ROWS_DEFAULT));
    const at = wholeNumber('page', page, 1);
    const within = { path: textIn('path', path), search: textIn('search', search) };
    const source = await this.reached(user, id, 'view');
    const { total, records } = await this.chunks.page(source.id, within, limit, (at - 1) * limit);
    const chunks = records.map(({ chunkId, text, title, filename, tokens }) => ({
      doc_id: chunkId,
      text,
      metadata: { title, filename, source: source.name, token_count: tokens },
    }));
    return { page: at, per_page: limit, total, chunks, ...within };
  }

  private async ingestedBy(taskId: Asked): Promise<string> {
    if (typeof taskId !== 'string' || taskId === '') throw new Rejection('invalid-request', 'Missing required fields: source_id');
    return (await this.sources.byIngest(storableText(taskId)))?.id ?? '';
  }

  private async reached(user: SignedInUser, id: Asked, needs: ResourceAction): Promise<SourceRecord> {
    if (id === undefined) throw new Rejection('invalid-request', 'Missing required fields: id');
    const source = isId(id) ? await this.sources.byId(id) : undefined;
    return this.reaching.reached(user, source, 'sources', needs, sourceNotFound);
  }
}

/** A query parameter as text. One that is given twice is a list and is refused. @throws Rejection invalid-request */
function textIn(name: string, given: unknown): string {
  if (given === undefined) return '';
  if (typeof given !== 'string') throw new Rejection('invalid-request', `${name} must be a text`);
  return storableText(given);
}

const WHOLE_NUMBER = /^\d{1,9}$/;

function wholeNumber(name: string, given: unknown, otherwise: number): number {
  if (given === undefined || given === '') return otherwise;
  if (typeof given !== 'string' || !WHOLE_NUMBER.test(given) || Number(given) < 1) {
    throw new Rejection('invalid-request', `${name} must be a whole number, at least 1`);
  }
  return Number(given);
}

function orderIn(sort: unknown, order: unknown): SourceOrder {
  const by = sort === undefined || sort === '' ? 'date' : sort;
  if (typeof by !== 'string' || !ORDERS.includes(by))
    throw new Rejection('invalid-request', `sort must be one of ${ORDERS.join(', ')}`);
  if (order !== undefined && order !== 'asc' && order !== 'desc' && order !== '')
    throw new Rejection('invalid-request', 'order must be asc or desc');
  return { by: by as SourceOrder['by'], descending: order !== 'asc' };
}
