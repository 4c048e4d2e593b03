import { Module } from '@nestjs/common';
import { ArtifactQueries } from '../../../projections/artifacts/artifacts.queries.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { Config } from '../../platform/config/config.js';
import { DeleteArtifactHandler, RestoreArtifactHandler, StoreArtifactHandler } from './artifact.commands.js';
import { ArtifactContents } from './artifact-contents.port.js';
import { ArtifactQuota } from './artifact-quota.js';
import { artifactPurges } from './artifact.purges.js';
import { ArtifactsController } from './artifacts.http.js';
import { ArtifactsInReach } from './artifacts-in-reach.js';
import { ArtifactsOptions } from './artifacts-options.js';
import { artifactsRejections } from './artifacts.rejections.js';
import { StoredArtifactContents } from './stored-artifact-contents.js';
import { FileLinks } from './file-links.js';

/** The files that runs make, with their versions. */
@Module({
  controllers: [ArtifactsController],
  providers: [
    ArtifactQueries,
    ConversationQueries,
    ArtifactsInReach,
    ArtifactQuota,
    FileLinks,
    StoreArtifactHandler,
    RestoreArtifactHandler,
    DeleteArtifactHandler,
    { provide: ArtifactContents, useClass: StoredArtifactContents },
    {
      provide: ArtifactsOptions,
      inject: [Config],
      useFactory: ({ artifactBytesMax, artifactsPerUserMax, artifactBytesPerUserMax, publicApiBaseUrl }: Config) =>
        new ArtifactsOptions(
          { versionBytesMax: artifactBytesMax, perUserMax: artifactsPerUserMax, bytesPerUserMax: artifactBytesPerUserMax },
          publicApiBaseUrl,
        ),
    },
  ],
  exports: [ArtifactContents, ArtifactQueries],
})
export class ArtifactsModule {
  static readonly rejections = artifactsRejections;
  static readonly purges = artifactPurges;
}
