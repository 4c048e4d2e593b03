import { join } from 'node:path';
import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { Blobs } from '../../../kernel/blobs.js';
import { Config } from '../../../platform/config/config.js';
import { Archives } from '../archive.port.js';
import { ZipArchives } from '../archives/zip-archives.js';
import { AttachmentReader } from '../attachment-reader.port.js';
import { Documents } from '../document.port.js';
import { documentsRejections } from '../documents.rejections.js';
import { PARSING_LIMITS, type ParsingLimits } from '../limits.js';
import { GuardedDocuments } from './guarded-documents.js';

const limitsOf = (config: Config): Partial<ParsingLimits> => ({
  fileBytesMax: config.uploadFileBytesMax,
  unpackedBytesMax: config.uploadArchiveBytesMax,
  unpackedRatioMax: config.uploadArchiveRatioMax,
  archiveEntriesMax: config.uploadArchiveFilesMax,
  attachmentTextBytesMax: config.attachmentTextBytesMax,
});

/** Reads users' files and pages in separate processes, so that none of them can harm the service. */
@Module({
  providers: [
    {
      provide: GuardedDocuments,
      inject: [Config],
      useFactory: (config: Config) => new GuardedDocuments(limitsOf(config)),
    },
    {
      provide: Archives,
      inject: [Blobs, Config],
      useFactory: (blobs: Blobs, config: Config) =>
        new ZipArchives(blobs, join(config.dataDir, 'uploads'), {
          ...PARSING_LIMITS,
          ...limitsOf(config),
          archiveDepthMax: config.uploadArchiveDepthMax,
        }),
    },
    { provide: Documents, useExisting: GuardedDocuments },
    { provide: AttachmentReader, useExisting: GuardedDocuments },
  ],
  exports: [Archives, Documents, AttachmentReader],
})
export class DocumentsModule implements OnApplicationShutdown {
  static readonly rejections = documentsRejections;

  constructor(private readonly documents: GuardedDocuments) {}

  /** Closes the processes in the last phase, because work that is running when the shutdown begins still reads documents. */
  onApplicationShutdown(): Promise<void> {
    return this.documents.close();
  }
}
