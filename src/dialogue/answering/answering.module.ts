import { ConversationModule } from '../conversation/conversation.module.js';
import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { UnsealedTurnQueries } from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import { Config } from '../../platform/config/config.js';
import { AttachmentsModule } from '../../resources/attachments/attachments.module.js';
import { LimitsModule } from '../../work/limits/limits.module.js';
import { PromptsModule } from '../../resources/prompts/prompts.module.js';
import { JournalModule } from '../journal/journal.module.js';
import { SourcesModule } from '../../resources/sources/sources.module.js';
import { ToolsModule } from '../../resources/tools/tools.module.js';
import { AskQuestionIntake } from './intake/ask-question-intake.js';
import { AgentLoop } from './loop/agent-loop.js';
import { AgentAnswers } from './loop/agent-answers.js';
import { AnswerComposer } from './runner/answer-composer.js';
import { AnsweringController } from './intake/answering.http.js';
import { AnsweringOptions } from './loop/answering-options.js';
import { AskQuestionHandler, ResumeTurnHandler } from './intake/question.commands.js';
import { AutomaticTurnIntake } from './intake/automatic-turn-intake.js';
import { AttachedFiles } from './loop/attached-files.js';
import { Continuations } from './loop/continuations.js';
import { EndUnclaimedTurns } from './runner/end-unclaimed-turns.ticker.js';
import { ExpirePauses } from './runner/expire-pauses.ticker.js';
import { QuestionResolver } from './intake/resolve-question.js';
import { StopAnswerHandler } from './runner/stop-answer.commands.js';
import { StopAnswerController } from './runner/stop-answer.http.js';
import { SweepTurns } from './runner/sweep-turns.ticker.js';
import { ArtifactsModule } from '../../resources/artifacts/artifacts.module.js';
import { DeleteArtifactsOfConversation } from './delete-artifacts-of-conversation.reaction.js';
import { TitleConversation } from './title-conversation.reaction.js';
import { TurnCloser } from './runner/turn-closer.js';
import { TurnRunner } from './runner/turn-runner.js';
import { TurnsWorker } from './runner/turns-worker.js';
import { UnclaimedTurns } from './runner/unclaimed-turns.js';
import { HeadlessAnswering } from './runner/headless-answering.port.js';
import { HeadlessAnswers } from './runner/headless-answers.js';
import { AutomaticTurns } from './intake/automatic-turns.port.js';
import { DropContinuations } from './runner/drop-continuations.js';
import { answeringRejections } from './answering.rejections.js';
import { DropContinuationHandler } from './loop/continuation.commands.js';

const REACTIONS = [DeleteArtifactsOfConversation, TitleConversation];
const TICKERS = [SweepTurns, ExpirePauses, EndUnclaimedTurns];
const RETENTION = [DropContinuations];

@Module({
  imports: [
    ArtifactsModule,
    AttachmentsModule,
    LimitsModule,
    SourcesModule,
    JournalModule,
    PromptsModule,
    ToolsModule,
    ConversationModule,
  ],
  controllers: [AnsweringController, StopAnswerController],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    ...RETENTION,
    {
      provide: AnsweringOptions,
      inject: [Config],
      useFactory: (config: Config) =>
        new AnsweringOptions({
          worker: config.roles.includes('worker'),
          turnsConcurrentMax: config.turnsConcurrentMax,
          streamsMax: config.sseConnectionsMax,
          staleProducerMs: config.staleProducerMs,
          noWorkerTurnMs: config.noWorkerTurnMs,
          idempotencyTtlMs: config.idempotencyTtlMs,
          approvalTtlMs: config.approvalTtlMs,
          messageEventsRetentionSeconds: config.messageEventsRetentionSeconds,
          shutdownMs: config.shutdownMs,
          apiBaseUrl: config.publicApiBaseUrl ?? null,
          titleModelId: config.titleModelId,
        }),
    },
    AgentQueries,
    ExpiringQueries,
    UnsealedTurnQueries,
    QuestionResolver,
    AskQuestionIntake,
    AgentLoop,
    Continuations,
    DropContinuationHandler,
    AttachedFiles,
    AgentAnswers,
    AnswerComposer,
    AskQuestionHandler,
    ResumeTurnHandler,
    StopAnswerHandler,
    TurnCloser,
    TurnRunner,
    UnclaimedTurns,
    TurnsWorker,
    { provide: HeadlessAnswering, useClass: HeadlessAnswers },
    { provide: AutomaticTurns, useClass: AutomaticTurnIntake },
  ],
  exports: [...REACTIONS, ...TICKERS, ...RETENTION, TurnRunner, HeadlessAnswering, AutomaticTurns],
})
export class AnsweringModule {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly retention = RETENTION;
  static readonly rejections = answeringRejections;
}
