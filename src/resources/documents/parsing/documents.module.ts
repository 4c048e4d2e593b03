import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../../platform/config/config.js';
import { AttachmentReader } from '../attachment-reader.port.js';
import { Documents } from '../document.port.js';
import { documentsRejections } from '../documents.rejections.js';
import { GuardedDocuments } from './guarded-documents.js';

/** Reads what users bring: files and pages. A process of its own does, so that none of them harms the service. */
@Module({
  providers: [
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
    { provide: AttachmentReader, useExisting: GuardedDocuments },
  ],
  exports: [Documents, AttachmentReader],
})
export class DocumentsModule implements OnApplicationShutdown {
  static readonly rejections = documentsRejections;

  constructor(private readonly documents: GuardedDocuments) {}

  /** What is under way when the shutdown begins still reads documents. */
  onApplicationShutdown(): Promise<void> {
    return this.documents.close();
  }
}
