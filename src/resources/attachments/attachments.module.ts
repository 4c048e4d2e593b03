import { Module, type OnModuleInit } from '@nestjs/common';
import { Blobs } from '../../kernel/blobs.js';
import { Commands } from '../../kernel/commands.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { DocumentsModule } from '../documents/parsing/documents.module.js';
import { SourcesModule } from '../sources/sources.module.js';
import { TaskRunners } from '../../work/tasks/task-runner.port.js';
import { TasksModule } from '../../work/tasks/tasks.module.js';
import { AttachmentReader } from '../documents/attachment-reader.port.js';
import { AttachmentShelf } from './attachment-shelf.port.js';
import { AttachmentsController } from './attachments.http.js';
import { ParseAttachment } from './parse-attachment.js';
import { QueueParsing } from './queue-parsing.reaction.js';
import { AttachmentUploads } from './attachment-uploads.port.js';
import { StagedAttachmentUploads } from './staged-attachment-uploads.js';
import { AttachmentIntake } from './attachment-intake.js';
import { FailAttachmentHandler, RecordParsedAttachmentHandler, StoreAttachmentHandler } from './attachment.commands.js';
import { StoredAttachments } from './stored-attachments.js';
import { attachmentsRejections } from './attachments.rejections.js';
import { attachmentNotifications } from './attachment.notifications.js';

const REACTIONS = [QueueParsing];

/** Files attached to questions: their upload, and the parsing of their text and pictures. */
@Module({
  imports: [DocumentsModule, SourcesModule, TasksModule],
  controllers: [AttachmentsController],
  providers: [
    ...REACTIONS,
    AttachmentIntake,
    StoreAttachmentHandler,
    RecordParsedAttachmentHandler,
    FailAttachmentHandler,
    { provide: AttachmentUploads, useClass: StagedAttachmentUploads },
    { provide: AttachmentShelf, useClass: StoredAttachments },
    {
      provide: ParseAttachment,
      inject: [Streams, Commands, Blobs, AttachmentReader],
      useFactory: (...parts: ConstructorParameters<typeof ParseAttachment>) => new ParseAttachment(...parts),
    },
  ],
  exports: [...REACTIONS, AttachmentShelf, AttachmentUploads],
})
export class AttachmentsModule implements OnModuleInit {
  static readonly reactions = REACTIONS;
  static readonly rejections = attachmentsRejections;
  static readonly notifications = attachmentNotifications;

  constructor(
    private readonly runners: TaskRunners,
    private readonly parseAttachment: ParseAttachment,
  ) {}

  onModuleInit(): void {
    this.runners.add(this.parseAttachment);
  }
}
