import type { Type } from '@nestjs/common';
import type { NotificationRule } from '../kernel/event-sourcing/notifications.js';
import type { Purge } from '../kernel/event-sourcing/purge.js';
import type { Reaction } from '../kernel/event-sourcing/reaction.js';
import type { Ticker } from '../kernel/event-sourcing/ticker.js';
import type { Rejections } from '../platform/http/rejections.js';
import { McpDialectModule } from '../dialects/mcp/mcp-dialect.module.js';
import { OlderModule } from '../dialects/older/older.module.js';
import { OpenAiModule } from '../dialects/openai/openai.module.js';
import { FollowUpsModule } from '../background/follow-ups/follow-ups.module.js';
import { JobsModule } from '../background/jobs/jobs.module.js';
import { RunsModule } from '../background/runs/runs.module.js';
import { AnsweringModule } from '../dialogue/answering/answering.module.js';
import { ConversationModule } from '../dialogue/conversation/conversation.module.js';
import { ConversationLinksModule } from '../dialogue/conversation/links/conversation-links.module.js';
import { ConversationPurgeModule } from '../dialogue/conversation/purge/conversation-purge.module.js';
import { JournalModule } from '../dialogue/journal/journal.module.js';
import { PresenceModule } from '../dialogue/presence/presence.module.js';
import { AgentsModule } from '../resources/agents/agents.module.js';
import { AgentFilesModule } from '../resources/agents/files/agent-files.module.js';
import { AgentFoldersModule } from '../resources/agents/folders/agent-folders.module.js';
import { AgentLinksModule } from '../resources/agents/links/agent-links.module.js';
import { ArtifactsModule } from '../resources/artifacts/artifacts.module.js';
import { AttachmentsModule } from '../resources/attachments/attachments.module.js';
import { CodeModule } from '../resources/code/python/code.module.js';
import { DevicesModule } from '../resources/devices/devices.module.js';
import { DocumentsModule } from '../resources/documents/parsing/documents.module.js';
import { OidcModule } from '../resources/identity/oidc/oidc.module.js';
import { IdentityModule } from '../resources/identity/identity.module.js';
import { TeamsModule } from '../resources/identity/teams/teams.module.js';
import { AccessTokensModule } from '../resources/identity/tokens/access-tokens.module.js';
import { ModelsModule } from '../resources/models/models.module.js';
import { GuardrailsModule } from '../resources/guardrails/guardrails.module.js';
import { PromptsModule } from '../resources/prompts/prompts.module.js';
import { SharingModule } from '../resources/sharing/sharing.module.js';
import { SourcesModule } from '../resources/sources/sources.module.js';
import { SpeechModule } from '../resources/speech/speech.module.js';
import { ApiToolsModule } from '../resources/tools/api/api.module.js';
import { BuiltinModule } from '../resources/tools/builtin/builtin.module.js';
import { DatabasesModule } from '../resources/tools/databases/databases.module.js';
import { McpModule } from '../resources/tools/mcp/mcp.module.js';
import { NotebooksModule } from '../resources/tools/notebooks/notebooks.module.js';
import { PortableToolsModule } from '../resources/tools/portable/portable-tools.module.js';
import { ToolsModule } from '../resources/tools/tools.module.js';
import { WorkflowsModule } from '../resources/workflows/workflows.module.js';
import type { RetentionRule } from '../work/retention/retention-rule.port.js';
import type { ToolKind } from '../resources/tools/toolbox/tool-kind.port.js';
import { WebToolsModule } from '../resources/tools/web/web.module.js';
import { MonitorsModule } from '../triggers/monitors/monitors.module.js';
import { SchedulesModule } from '../triggers/schedules/schedules.module.js';
import { WebhooksModule } from '../triggers/webhooks/webhooks.module.js';
import { ActivityModule } from '../views/activity/activity.module.js';
import { AnalyticsModule } from '../views/analytics/analytics.module.js';
import { AuditModule } from '../views/audit/audit.module.js';
import { DemoModule } from '../views/demo/demo.module.js';
import { NotificationsModule } from '../views/notifications/notifications.module.js';
import { OperationsModule } from '../views/operations/operations.module.js';
import { QuotaModule } from '../views/quota/quota.module.js';
import { StartUpModule } from '../views/start-up/start-up.module.js';
import { TracesModule } from '../views/traces/traces.module.js';
import { LimitsModule } from '../work/limits/limits.module.js';
import { RetentionModule } from '../work/retention/retention.module.js';
import { LogSealsModule } from '../work/log-seals/log-seals.module.js';
import { TasksModule } from '../work/tasks/tasks.module.js';

/** A module with the lists that it contributes. The module exports the providers that its lists name. */
export type Room = Type &
  Partial<
    Readonly<{
      reactions: readonly Type<Reaction>[];
      tickers: readonly Type<Ticker>[];
      retention: readonly Type<RetentionRule>[];
      toolKinds: readonly Type<ToolKind>[];
      purges: readonly Purge[];
      notifications: readonly NotificationRule[];
      rejections: Rejections;
    }>
  >;

/** All rooms of the service, lowest floor first. Tool kinds are listed in this order. */
export const ROOMS: readonly Room[] = [
  TasksModule,
  LimitsModule,
  RetentionModule,
  LogSealsModule,
  IdentityModule,
  AccessTokensModule,
  OidcModule,
  TeamsModule,
  AgentsModule,
  AgentFilesModule,
  AgentLinksModule,
  AgentFoldersModule,
  GuardrailsModule,
  PromptsModule,
  ModelsModule,
  DocumentsModule,
  SourcesModule,
  AttachmentsModule,
  SpeechModule,
  ArtifactsModule,
  CodeModule,
  ToolsModule,
  PortableToolsModule,
  ApiToolsModule,
  McpModule,
  WebToolsModule,
  NotebooksModule,
  DatabasesModule,
  WorkflowsModule,
  SharingModule,
  DevicesModule,
  ConversationModule,
  ConversationLinksModule,
  ConversationPurgeModule,
  JournalModule,
  PresenceModule,
  AnsweringModule,
  RunsModule,
  FollowUpsModule,
  SchedulesModule,
  MonitorsModule,
  WebhooksModule,
  BuiltinModule,
  JobsModule,
  McpDialectModule,
  OlderModule,
  OpenAiModule,
  NotificationsModule,
  ActivityModule,
  AnalyticsModule,
  AuditModule,
  TracesModule,
  OperationsModule,
  QuotaModule,
  StartUpModule,
  DemoModule,
];
