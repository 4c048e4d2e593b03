import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { ActivityModule } from '../views/activity/activity.module.js';
import { AgentsModule } from '../resources/agents/agents.module.js';
import { AnsweringModule } from '../dialogue/answering/answering.module.js';
import { AttachmentsModule } from '../resources/attachments/attachments.module.js';
import { AuditModule } from '../views/audit/audit.module.js';
import { BackgroundModule } from './background.module.js';
import { ConversationModule } from '../dialogue/conversation/conversation.module.js';
import { DemoModule } from '../views/demo/demo.module.js';
import { IdentityModule } from '../resources/identity/identity.module.js';
import { ModelsModule } from '../resources/models/models.module.js';
import { MonitorsModule } from '../triggers/monitors/monitors.module.js';
import { OperationsModule } from '../views/operations/operations.module.js';
import { HttpModule } from './http.module.js';
import type { Platform } from './platform.js';
import { PlatformModule } from './platform.module.js';
import { PromptsModule } from '../resources/prompts/prompts.module.js';
import { RealtimeModule } from '../views/notifications/realtime.module.js';
import { RunsModule } from '../background/runs/runs.module.js';
import { SchedulesModule } from '../triggers/schedules/schedules.module.js';
import { SourcesModule } from '../resources/sources/sources.module.js';
import { StartUpModule } from '../views/start-up/start-up.module.js';
import { TasksModule } from '../work/tasks/tasks.module.js';
import { ToolsModule } from '../resources/tools/tools.module.js';
import { WebhooksModule } from '../triggers/webhooks/webhooks.module.js';

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
