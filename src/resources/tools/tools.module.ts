import { Module, type Type } from '@nestjs/common';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { ChatSchedulesModule } from '../../triggers/schedules/tool/chat-schedules.module.js';
import { Config } from '../../platform/config/config.js';
import { ApiToolsModule } from './api/api.module.js';
import { ApiTool } from './api/api-tool.js';
import { BuiltinModule } from './builtin/builtin.module.js';
import { InternalSearchTool } from './builtin/internal-search-tool.js';
import { PostgresTool } from './databases/postgres-tool.js';
import { ThinkTool } from './builtin/think-tool.js';
import { ChangeToolHandler } from './toolbox/change-tool.command.js';
import { CreateToolHandler } from './toolbox/create-tool.command.js';
import { DeleteToolHandler } from './toolbox/delete-tool.command.js';
import { ForgetSecrets } from './toolbox/forget-secrets.reaction.js';
import { IdentityModule } from '../identity/identity.module.js';
import { JobsModule } from '../../background/jobs/jobs.module.js';
import { CheckJobTool } from '../../background/jobs/check-job-tool.js';
import { McpModule } from './mcp/mcp.module.js';
import { McpServerController } from './mcp/mcp-server.http.js';
import { McpTool } from './mcp/mcp-tool.js';
import { MonitorTool } from '../../triggers/monitors/tool/monitor-tool.js';
import { MemoryTool } from './notebooks/memory-tool.js';
import { NotebooksModule } from './notebooks/notebooks.module.js';
import { NotesTool } from './notebooks/notes-tool.js';
import { TodoListTool } from './notebooks/todo-list-tool.js';
import { SchedulerTool } from '../../triggers/schedules/tool/scheduler-tool.js';
import { StoredToolbox } from './toolbox/stored-toolbox.js';
import { SwitchDefaultToolHandler } from './defaults/switch-default-tool.command.js';
import { ToolHistory } from './toolbox/tool-history.js';
import type { ToolKind } from './toolbox/tool-kind.port.js';
import { ToolKinds } from './toolbox/tool-kinds.js';
import { ToolSetup } from './toolbox/tool-setup.js';
import { Toolbox } from './toolbox/toolbox.port.js';
import { ToolsController } from './tools.http.js';
import { BraveTool } from './web/brave-tool.js';
import { CryptoPriceTool } from './web/crypto-price-tool.js';
import { DuckDuckGoTool } from './web/duckduckgo-tool.js';
import { NtfyTool } from './web/ntfy-tool.js';
import { GuardedWebPages } from './web/read-page.js';
import { ReadWebpageTool } from './web/read-webpage-tool.js';
import { TelegramTool } from './web/telegram-tool.js';
import { WebPages } from './web/web-pages.port.js';
import { WebToolsModule } from './web/web.module.js';

/** Every kind of tool there is, one a line, in the order in which they are offered to be set up. */
const TOOL_KINDS: readonly Type<ToolKind>[] = [
  ApiTool,
  McpTool,
  ReadWebpageTool,
  BraveTool,
  DuckDuckGoTool,
  CryptoPriceTool,
  NtfyTool,
  TelegramTool,
  MemoryTool,
  NotesTool,
  TodoListTool,
  PostgresTool,
  SchedulerTool,
  MonitorTool,
  ThinkTool,
  InternalSearchTool,
  CheckJobTool,
];

const MONITOR = 'monitor';

@Module({
  imports: [
    IdentityModule,
    ApiToolsModule,
    WebToolsModule,
    McpModule,
    NotebooksModule,
    BuiltinModule,
    JobsModule,
    ChatSchedulesModule,
  ],
  controllers: [ToolsController, McpServerController],
  providers: [
    ...TOOL_KINDS,
    {
      provide: ToolKinds,
      inject: [Config, ...TOOL_KINDS],
      useFactory: ({ monitorsEnabled, autoResumeEnabled }: Config, ...kinds: ToolKind[]) =>
        // Without turns that begin by themselves a monitor would wake nobody.
        new ToolKinds(kinds.filter(({ name }) => name !== MONITOR || (monitorsEnabled && autoResumeEnabled))),
    },
    ToolQueries,
    ToolSetup,
    ToolHistory,
    { provide: Toolbox, useClass: StoredToolbox },
    { provide: WebPages, useClass: GuardedWebPages },
    CreateToolHandler,
    ChangeToolHandler,
    DeleteToolHandler,
    ForgetSecrets,
    SwitchDefaultToolHandler,
  ],
  exports: [ForgetSecrets, ToolKinds, Toolbox, ToolQueries, WebPages],
})
export class ToolsModule {}
