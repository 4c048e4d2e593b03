import { Module } from '@nestjs/common';
import { ConversationQueries } from '../../../projections/conversations/conversations.queries.js';
import { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { LimitsModule } from '../../work/limits/limits.module.js';
import { ModelsModule } from '../../resources/models/models.module.js';
import { Config } from '../../platform/config/config.js';
import { PatternThreads } from './patterns/pattern-threads.js';
import { ToolsModule } from '../../resources/tools/tools.module.js';
import { WakesModule } from '../../background/follow-ups/wakes.module.js';
import { AdmitMonitorHandler } from './monitor/admit-monitor.command.js';
import { AskedSource } from './checks/asked-source.js';
import { CancelMonitorWithConversationHandler } from './monitor/cancel-monitor-with-conversation.command.js';
import { CancelMonitorsOfConversation } from './cancel-monitors-of-conversation.reaction.js';
import { ChatMonitors } from './monitor/chat-monitors.port.js';
import { CheckMonitor } from './checks/check-monitor.js';
import { CheckMonitors } from './checks/check-monitors.ticker.js';
import { CreateMonitorHandler } from './monitor/create-monitor.command.js';
import { Judge, JudgeSettings } from './checks/judge.js';
import { MonitorRules } from './monitor/monitor-rules.js';
import { MonitorsController } from './monitors.http.js';
import { Patterns } from './patterns/patterns.port.js';
import { SteerMonitorHandler } from './monitor/steer-monitor.command.js';
import { StoredChatMonitors } from './stored-chat-monitors.js';
import { WakeConversationsOfMonitors } from './wake-conversations-of-monitors.reaction.js';
import { WatchedSources } from './checks/watched-sources.js';

/** What is watched for conversations, and wakes them. */
@Module({
  imports: [LimitsModule, ModelsModule, ToolsModule, WakesModule],
  controllers: [MonitorsController],
  providers: [
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
        wakes: config.monitorWakes,
        wakesMax: config.monitorWakesMax,
        wakesPerHourMax: config.monitorWakesPerHourMax,
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
    { provide: ChatMonitors, useClass: StoredChatMonitors },
    AskedSource,
    WatchedSources,
    Judge,
    CheckMonitor,
    CheckMonitors,
    AdmitMonitorHandler,
    CreateMonitorHandler,
    SteerMonitorHandler,
    CancelMonitorWithConversationHandler,
    CancelMonitorsOfConversation,
    WakeConversationsOfMonitors,
  ],
  exports: [CheckMonitors, CancelMonitorsOfConversation, WakeConversationsOfMonitors],
})
export class MonitorsModule {}
