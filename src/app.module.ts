import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { ActivityModule } from './activity/activity.module.js';
import { AgentsModule } from './agents/agents.module.js';
import { AnsweringModule } from './answering/answering.module.js';
import { AttachmentsModule } from './attachments/attachments.module.js';
import { AuditModule } from './audit/audit.module.js';
import { BackgroundModule } from './background.module.js';
import { ConversationModule } from './conversation/conversation.module.js';
import { DemoModule } from './demo/demo.module.js';
import { IdentityModule } from './identity/identity.module.js';
import { ModelsModule } from './models/models.module.js';
import { MonitorsModule } from './monitors/monitors.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { HttpModule } from './platform/http/http.module.js';
import type { Platform } from './platform/platform.js';
import { PlatformModule } from './platform/platform.module.js';
import { PromptsModule } from './prompts/prompts.module.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { RunsModule } from './runs/runs.module.js';
import { SchedulesModule } from './schedules/schedules.module.js';
import { SourcesModule } from './sources/sources.module.js';
import { StartUpModule } from './start-up/start-up.module.js';
import { TasksModule } from './tasks/tasks.module.js';
import { ToolsModule } from './tools/tools.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The whole service over an open platform. */
@Module({})
export class AppModule {
  static over(platform: Platform, log: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.over(platform, log),
        HttpModule,
        IdentityModule,
        AgentsModule,
        PromptsModule,
        ModelsModule,
        ConversationModule,
        RealtimeModule,
        TasksModule,
        SourcesModule,
        AttachmentsModule,
        ToolsModule,
        AnsweringModule,
        RunsModule,
        WebhooksModule,
        SchedulesModule,
        MonitorsModule,
        ActivityModule,
        StartUpModule,
        OperationsModule,
        AuditModule,
        DemoModule,
        BackgroundModule,
      ],
    };
  }
}
