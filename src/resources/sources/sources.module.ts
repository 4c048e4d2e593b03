import { join } from 'node:path';
import { Module, type OnModuleInit } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ChunkQueries } from '../../../projections/chunks/chunks.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { Commands } from '../../kernel/commands.js';
import { Clock } from '../../kernel/clock.js';
import { Timing } from '../../kernel/timing.js';
import { CredentialVault } from '../../platform/credentials/credential-vault.port.js';
import { Blobs } from '../../kernel/blobs.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Config } from '../../platform/config/config.js';
import { DocumentsModule } from '../documents/parsing/documents.module.js';
import { TaskRunners } from '../../work/tasks/task-runner.port.js';
import { TasksModule } from '../../work/tasks/tasks.module.js';
import { OutgoingHttp } from '../../platform/outgoing/outgoing-http.port.js';
import { RemoteIntake } from './remote-intake.js';
import { UploadIntake, UploadKeyTtl } from './upload-intake.js';
import { sourceHandlers } from './source/source.commands.js';
import { syncHandlers } from './source/sync.commands.js';
import { Reaching } from '../identity/reaching.js';
import { AgentSearch } from './chunks/agent-search.port.js';
import { StoredAgentSearch } from './chunks/stored-agent-search.js';
import { ChunkSearch } from './chunks/chunk-search.js';
import { Archives } from '../documents/archive.port.js';
import { Documents } from '../documents/document.port.js';
import { Embeddings } from '../models/model/embeddings.port.js';
import { EditChunkHandler, PurgeSourceChunksHandler } from './chunks/chunks.commands.js';
import { PurgeChunks } from './chunks/purge-chunks.reaction.js';
import { IngestSource, type Searchable } from './ingest-source.js';
import { PurgeSourceCredentials } from './purge-source-credentials.reaction.js';
import { QueueIngestion } from './queue-ingestion.reaction.js';
import { UploadStagingFolder } from './received-upload.js';
import { RemoteController } from './remote.http.js';
import { RemoteOptions } from './remote/remote-limits.js';
import { RemoteFiles } from './remote/remote-files.js';
import { webHostOf } from './remote/github-address.policy.js';
import { RemotePages } from './remote/remote-pages.js';
import { ChunkEdits } from './chunks/chunk-edits.js';
import { ChunkEditsController } from './chunks/chunk-edits.http.js';
import { SourceSearchController } from './chunks/source-search.http.js';
import { Search } from './chunks/search.port.js';
import { SearchController } from './chunks/search.http.js';
import { SearchGuard } from './chunks/search-guard.js';
import { SeedSource } from './seed-source.js';
import { SourceFilesController } from './files/source-files.http.js';
import { ChangeSourceFilesHandler } from './files/source-files.commands.js';
import { SourceConfigController } from './source-config.http.js';
import { SearchAbilities } from './source/source-config-warnings.policy.js';
import { SourceListing, SourcesController } from './sources.http.js';
import { SyncController } from './sync.http.js';
import { SyncSources } from './sync-sources.ticker.js';
import { UploadController } from './upload.http.js';
import { UploadStaging } from '../../platform/blobs/upload-staging.port.js';
import { VectorIndex } from './chunks/vector-index.js';
import { sourcesRejections } from './sources.rejections.js';
import { sourcePurges } from './source/source.purges.js';
import { sourceNotifications } from './source/source.notifications.js';

const REACTIONS = [QueueIngestion, PurgeChunks, PurgeSourceCredentials];
const TICKERS = [SyncSources];

/**
 * The sources from which agents answer: uploads, web pages, repositories and buckets, their syncs, their ingestion, and search.
 */
@Module({
  imports: [DocumentsModule, TasksModule],
  controllers: [
    UploadController,
    RemoteController,
    SourceConfigController,
    SourceFilesController,
    SyncController,
    SourcesController,
    SearchController,
    SourceSearchController,
    ChunkEditsController,
  ],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    AgentQueries,
    { provide: AgentSearch, useClass: StoredAgentSearch },
    ChunkQueries,
    SourceQueries,
    ...syncHandlers,
    ChangeSourceFilesHandler,
    ...sourceHandlers,
    PurgeSourceChunksHandler,
    EditChunkHandler,
    UploadIntake,
    RemoteIntake,
    SeedSource,
    SearchGuard,
    {
      provide: UploadStaging,
      inject: [Config],
      useFactory: ({ dataDir, uploadFileBytesMax, uploadRequestBytesMax }: Config) =>
        new UploadStagingFolder(join(dataDir, 'uploads'), {
          fileBytesMax: uploadFileBytesMax,
          requestBytesMax: uploadRequestBytesMax,
        }),
    },
    {
      provide: UploadKeyTtl,
      inject: [Config],
      useFactory: ({ idempotencyTtlMs }: Config): UploadKeyTtl => ({ milliseconds: idempotencyTtlMs }),
    },
    {
      provide: RemoteOptions,
      inject: [Config],
      useFactory: (config: Config) =>
        new RemoteOptions(
          {
            pagesMax: config.remotePagesMax,
            filesMax: config.remoteFilesMax,
            pageBytesMax: config.remotePageBytesMax,
            bytesMax: config.remoteBytesMax,
            depthMax: config.remoteCrawlDepthMax,
            pageMs: config.remotePageMs,
            totalMs: config.remoteTotalMs,
          },
          webHostOf(config.githubApiBaseUrl),
        ),
    },
    {
      provide: RemoteFiles,
      inject: [OutgoingHttp, Blobs, CredentialVault, RemoteOptions, Config, Clock, Timing],
      useFactory: (
        http: OutgoingHttp,
        blobs: Blobs,
        vault: CredentialVault,
        { limits }: RemoteOptions,
        { githubApiBaseUrl: apiBaseUrl, githubRawBaseUrl: rawBaseUrl }: Config,
        clock: Clock,
        timing: Timing,
      ) => new RemoteFiles({ http, blobs, vault, limits, github: { apiBaseUrl, rawBaseUrl }, clock, timing }),
    },
    {
      provide: RemotePages,
      inject: [OutgoingHttp, Blobs, RemoteOptions, Timing],
      useFactory: (outgoing: OutgoingHttp, blobs: Blobs, { limits }: RemoteOptions, timing: Timing) =>
        new RemotePages(outgoing, blobs, limits, timing),
    },
    { provide: SourceListing, inject: [Config], useFactory: ({ embeddingsModel }: Config) => new SourceListing(embeddingsModel) },
    {
      provide: SearchAbilities,
      inject: [Config],
      useFactory: ({ embeddingsModel }: Config) => new SearchAbilities(embeddingsModel !== undefined),
    },
    { provide: VectorIndex, inject: [ChunkQueries], useFactory: (queries: ChunkQueries) => new VectorIndex(queries) },
    {
      provide: Search,
      inject: [ChunkQueries, VectorIndex, Embeddings, Reaching],
      useFactory: (...parts: ConstructorParameters<typeof ChunkSearch>) => new ChunkSearch(...parts),
    },
    {
      provide: ChunkEdits,
      inject: [Commands, ChunkQueries, Embeddings],
      useFactory: (...parts: ConstructorParameters<typeof ChunkEdits>) => new ChunkEdits(...parts),
    },
    {
      provide: IngestSource,
      inject: [
        EventStore,
        Streams,
        Commands,
        Blobs,
        Documents,
        Archives,
        Embeddings,
        RemotePages,
        RemoteFiles,
        Freshness,
        ChunkQueries,
      ],
      useFactory: (
        store: EventStore,
        streams: Streams,
        commands: Commands,
        blobs: Blobs,
        documents: Documents,
        archives: Archives,
        embeddings: Embeddings | undefined,
        pages: RemotePages,
        files: RemoteFiles,
        freshness: Freshness,
        queries: ChunkQueries,
      ) => {
        const isSearchable: Searchable = (sourceId, chunksId) => queries.isSearchable(sourceId, chunksId);
        return new IngestSource({
          store,
          streams,
          commands,
          blobs,
          documents,
          archives,
          embeddings,
          pages,
          files,
          freshness,
          isSearchable,
        });
      },
    },
  ],
  exports: [...REACTIONS, ...TICKERS, AgentSearch, Search, SeedSource, UploadStaging],
})
export class SourcesModule implements OnModuleInit {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly rejections = sourcesRejections;
  static readonly purges = sourcePurges;
  static readonly notifications = sourceNotifications;

  constructor(
    private readonly runners: TaskRunners,
    private readonly ingestSource: IngestSource,
    private readonly staging: UploadStaging,
  ) {}

  async onModuleInit(): Promise<void> {
    this.runners.add(this.ingestSource);
    await this.staging.removeAbandoned(new Date());
  }
}
