import { Module } from '@nestjs/common';
import { AgentQueries } from '../../projections/agents/agents.queries.js';
import { UnsealedTurnQueries } from '../../projections/unsealed-turns/unsealed-turns.queries.js';
import { Config } from '../platform/config/config.js';
import { AttachmentsModule } from '../attachments/attachments.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { PromptsModule } from '../prompts/prompts.module.js';
import { RealtimeModule } from '../realtime/realtime.module.js';
import { SourcesModule } from '../sources/sources.module.js';
import { ToolsModule } from '../tools/tools.module.js';
import { QuestionDesk } from './accept-question.js';
import { AgentLoop } from './agent-loop.js';
import { AnswerComposer } from './answer-composer.js';
import { AnsweringController } from './answering.http.js';
import { AnsweringOptions } from './answering-options.js';
import { AskQuestionHandler } from './ask-question.command.js';
import { AskedWokenTurns } from './asked-woken-turns.js';
import { AttachedFiles } from './attached-files.js';
import { Continuations } from './continuations.js';
import { ExpirePauses } from './expire-pauses.ticker.js';
import { QuestionResolver } from './resolve-question.js';
import { ResumeTurnHandler } from './resume-turn.command.js';
import { StopAnswerHandler } from './stop-answer.command.js';
import { StopAnswerController } from './stop-answer.http.js';
import { SweepTurns } from './sweep-turns.ticker.js';
import { TitleConversation } from './title-conversation.reaction.js';
import { TurnCloser } from './turn-closer.js';
import { TurnRunner } from './turn-runner.js';
import { TurnsWorker } from './turns-worker.js';
import { Unattended } from './unattended.port.js';
import { UnattendedAnswers } from './unattended-answers.js';
import { WokenTurns } from './woken-turns.port.js';

@Module({
  imports: [AttachmentsModule, LimitsModule, SourcesModule, RealtimeModule, PromptsModule, ToolsModule, JobsModule],
  controllers: [AnsweringController, StopAnswerController],
  providers: [
    {
      provide: AnsweringOptions,
      inject: [Config],
      useFactory: (config: Config) =>
        new AnsweringOptions({
          worker: config.roles.includes('worker'),
          turnsConcurrentMax: config.turnsConcurrentMax,
          streamsMax: config.sseConnectionsMax,
          staleProducerMs: config.staleProducerMs,
          idempotencyTtlMs: config.idempotencyTtlMs,
          approvalTtlMs: config.approvalTtlMs,
          messageEventsRetentionSeconds: config.messageEventsRetentionSeconds,
          shutdownMs: config.shutdownMs,
          apiBaseUrl: config.publicApiBaseUrl ?? null,
          titleModelId: config.titleModelId,
        }),
    },
    AgentQueries,
    UnsealedTurnQueries,
    QuestionResolver,
    QuestionDesk,
    AgentLoop,
    Continuations,
    AttachedFiles,
    AnswerComposer,
    AskQuestionHandler,
    ResumeTurnHandler,
    ExpirePauses,
    StopAnswerHandler,
    TurnCloser,
    TurnRunner,
    TurnsWorker,
    SweepTurns,
    TitleConversation,
    { provide: Unattended, useClass: UnattendedAnswers },
    { provide: WokenTurns, useClass: AskedWokenTurns },
  ],
  exports: [ExpirePauses, SweepTurns, TitleConversation, TurnRunner, Unattended, WokenTurns],
})
export class AnsweringModule {}
