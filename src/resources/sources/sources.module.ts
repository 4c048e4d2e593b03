import { join } from 'node:path';
import { Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ChunkQueries } from '../../../projections/chunks/chunks.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { Blobs } from '../../kernel/blobs.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { Config } from '../../platform/config/config.js';
import { OpenAiEmbeddings } from '../models/openai/openai-embeddings.js';
import { GuardedDocuments } from '../documents/parsing/guarded-documents.js';
import { TaskRunners } from '../../work/tasks/task-runner.port.js';
import { TasksModule } from '../../work/tasks/tasks.module.js';
import { OutgoingHttp } from '../../platform/outgoing/outgoing-http.port.js';
import { RemoteDesk } from './accept-remote.js';
import { UploadDesk, UploadKeyTtl } from './accept-upload.js';
import { AddRemoteSourceHandler } from './source/add-remote-source.command.js';
import { BeginDueSyncHandler } from './source/begin-due-sync.command.js';
import { ChunkSearch } from './chunks/chunk-search.js';
import { ConfigureSourceHandler } from './source/configure-source.command.js';
import { DeleteSourceHandler } from './source/delete-source.command.js';
import { Documents } from '../documents/document.port.js';
import { Embeddings } from '../models/model/embeddings.port.js';
import { ForgetChunks } from './chunks/forget-chunks.reaction.js';
import { IngestAgainHandler } from './source/ingest-again.command.js';
import { IngestSource, type Searchable } from './ingest-source.js';
import { QueueIngestion } from './queue-ingestion.reaction.js';
import { UploadStagingFolder } from './received-upload.js';
import { RemoteController } from './remote.http.js';
import { RemoteOptions } from './remote/remote-limits.js';
import { RemotePages } from './remote/remote-pages.js';
import { Search } from './chunks/search.port.js';
import { SearchController } from './chunks/search.http.js';
import { SeedSource } from './seed-source.js';
import { SetSyncFrequencyHandler } from './source/set-sync-frequency.command.js';
import { SourceConfigController } from './source-config.http.js';
import { SearchAbilities } from './source/source-config-warnings.policy.js';
import { SourceListing, SourcesController } from './sources.http.js';
import { SyncController } from './sync.http.js';
import { SyncSources } from './sync-sources.ticker.js';
import { UploadController } from './upload.http.js';
import { UploadSourceHandler } from './source/upload-source.command.js';
import { UploadStaging } from '../../platform/blobs/upload-staging.port.js';
import { VectorIndex } from './chunks/vector-index.js';

/** What agents answer from: uploads, pages on the web and their syncs, their ingestion, and search. */
@Module({
  imports: [TasksModule],
  controllers: [UploadController, RemoteController, SourceConfigController, SyncController, SourcesController, SearchController],
  providers: [
    AgentQueries,
    ChunkQueries,
    SourceQueries,
    UploadSourceHandler,
    AddRemoteSourceHandler,
    SetSyncFrequencyHandler,
    ConfigureSourceHandler,
    IngestAgainHandler,
    BeginDueSyncHandler,
    DeleteSourceHandler,
    QueueIngestion,
    ForgetChunks,
    SyncSources,
    UploadDesk,
    RemoteDesk,
    SeedSource,
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
      provide: GuardedDocuments,
      inject: [Config],
      useFactory: (config: Config) =>
        new GuardedDocuments({
          fileBytesMax: config.uploadFileBytesMax,
          unpackedBytesMax: config.uploadArchiveBytesMax,
          unpackedRatioMax: config.uploadArchiveRatioMax,
          archiveEntriesMax: config.uploadArchiveFilesMax,
          attachmentTextBytesMax: config.attachmentTextBytesMax,
        }),
    },
    { provide: Documents, useExisting: GuardedDocuments },
    {
      provide: Embeddings,
      inject: [Config],
      useFactory: ({ embeddingsModel: model, openaiBaseUrl, openaiApiKey }: Config) =>
        model === undefined
          ? undefined
          : new OpenAiEmbeddings({
              model,
              ...(openaiBaseUrl && { baseUrl: openaiBaseUrl }),
              ...(openaiApiKey && { apiKey: openaiApiKey }),
            }),
    },
    {
      provide: RemoteOptions,
      inject: [Config],
      useFactory: (config: Config) =>
        new RemoteOptions({
          pagesMax: config.remotePagesMax,
          pageBytesMax: config.remotePageBytesMax,
          bytesMax: config.remoteBytesMax,
          depthMax: config.remoteCrawlDepthMax,
          pageMs: config.remotePageMs,
          totalMs: config.remoteTotalMs,
        }),
    },
    {
      provide: RemotePages,
      inject: [OutgoingHttp, Blobs, RemoteOptions],
      useFactory: (outgoing: OutgoingHttp, blobs: Blobs, { limits }: RemoteOptions) => new RemotePages(outgoing, blobs, limits),
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
      inject: [ChunkQueries, VectorIndex, Embeddings],
      useFactory: (...parts: ConstructorParameters<typeof ChunkSearch>) => new ChunkSearch(...parts),
    },
    {
      provide: IngestSource,
      inject: [EventStore, Streams, Blobs, Documents, Embeddings, RemotePages, Freshness, ChunkQueries],
      useFactory: (
        store: EventStore,
        streams: Streams,
        blobs: Blobs,
        documents: Documents,
        embeddings: Embeddings | undefined,
        pages: RemotePages,
        freshness: Freshness,
        queries: ChunkQueries,
      ) => {
        const isSearchable: Searchable = (sourceId, chunksId) => queries.isSearchable(sourceId, chunksId);
        return new IngestSource({ store, streams, blobs, documents, embeddings, pages, freshness, isSearchable });
      },
    },
  ],
  exports: [Search, SeedSource, Documents, GuardedDocuments, QueueIngestion, ForgetChunks, SyncSources, UploadStaging],
})
export class SourcesModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly runners: TaskRunners,
    private readonly ingestSource: IngestSource,
    private readonly staging: UploadStaging,
    private readonly documents: GuardedDocuments,
  ) {}

  async onModuleInit(): Promise<void> {
    this.runners.add(this.ingestSource);
    await this.staging.removeAbandoned(new Date());
  }

  /** What is under way when the shutdown begins still reads documents. */
  onApplicationShutdown(): Promise<void> {
    return this.documents.close();
  }
}
