import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { LimitsModule } from '../../work/limits/limits.module.js';
import { ModelsModule } from '../../resources/models/models.module.js';
import { Config } from '../../platform/config/config.js';
import { PatternThreads } from './patterns/pattern-threads.js';
import { ToolsModule } from '../../resources/tools/tools.module.js';
import { FollowUpsModule } from '../../background/follow-ups/follow-ups.module.js';
import { AdmitMonitorHandler } from './monitor/monitor-allowance.commands.js';
import { RequestedSource } from './checks/requested-source.js';
import { monitorHandlers } from './monitor/monitor.commands.js';
import { CancelMonitorsOfAgent } from './cancel-monitors-of-agent.reaction.js';
import { CancelMonitorsOfConversation } from './cancel-monitors-of-conversation.reaction.js';
import { ChatMonitors } from './tool/chat-monitors.js';
import { CheckMonitor } from './checks/check-monitor.js';
import { CheckMonitors } from './checks/check-monitors.ticker.js';
import { Judge, JudgeSettings } from './checks/judge.js';
import { MonitorRules } from './monitor/monitor-rules.js';
import { MonitorsController } from './monitors.http.js';
import { Patterns } from './patterns/patterns.port.js';
import { RequestMonitorFollowUps } from './request-monitor-follow-ups.reaction.js';
import { WatchedSources } from './checks/watched-sources.js';
import { WebToolsModule } from '../../resources/tools/web/web.module.js';
import { NoteMonitorsInConversation } from './note-monitors-in-conversation.reaction.js';
import { MonitorTool } from './tool/monitor-tool.js';
import { monitorsRejections } from './monitors.rejections.js';
import { monitorNotifications } from './monitor/monitor.notifications.js';

const REACTIONS = [CancelMonitorsOfAgent, CancelMonitorsOfConversation, RequestMonitorFollowUps, NoteMonitorsInConversation];
const TICKERS = [CheckMonitors];
const TOOL_KINDS = [MonitorTool];

/** Monitors: checks of outside sources that continue a conversation. */
@Module({
  imports: [AnsweringModule, LimitsModule, ModelsModule, ToolsModule, WebToolsModule, FollowUpsModule],
  controllers: [MonitorsController],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    ...TOOL_KINDS,
    AgentQueries,
    ConversationQueries,
    MonitorQueries,
    SourceQueries,
    {
      provide: MonitorRules,
      inject: [Config],
      useFactory: (config: Config): MonitorRules => ({
        isEnabled: config.monitorsEnabled && config.autoResumeEnabled,
        intervalSeconds: config.monitorIntervalSeconds,
        intervalSecondsMin: config.monitorIntervalSecondsMin,
        ttlSeconds: config.monitorTtlSeconds,
        ttlSecondsMax: config.monitorTtlSecondsMax,
        followUps: config.monitorFollowUps,
        followUpsMax: config.monitorFollowUpsMax,
        followUpsPerHourMax: config.monitorFollowUpsPerHourMax,
        perUserMax: config.monitorsPerUserMax,
        unreachableGraceMs: config.monitorUnreachableGraceMs,
        failuresMax: config.scheduleAutopauseFailures,
        judgeTokensMax: config.monitorJudgeTokensMax,
      }),
    },
    {
      provide: JudgeSettings,
      inject: [Config],
      useFactory: ({ monitorJudgeModelId: modelId }: Config): JudgeSettings => ({ settings: { modelId } }),
    },
    { provide: Patterns, useFactory: () => new PatternThreads() },
    ChatMonitors,
    RequestedSource,
    WatchedSources,
    Judge,
    CheckMonitor,
    AdmitMonitorHandler,
    ...monitorHandlers,
  ],
  exports: [...REACTIONS, ...TICKERS, ...TOOL_KINDS],
})
export class MonitorsModule {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly toolKinds = TOOL_KINDS;
  static readonly rejections = monitorsRejections;
  static readonly notifications = monitorNotifications;
}
