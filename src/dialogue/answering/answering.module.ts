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
import { EnqueuedTurns } from './intake/enqueued-turns.js';
import { AskQuestionIntake } from './intake/ask-question-intake.js';
import { AnswerGuards } from './guardrails/answer-guards.js';
import { InputChecks } from './guardrails/input-checks.port.js';
import { InputGuard } from './intake/input-guard.js';
import { AgentLoop } from './loop/agent-loop.js';
import { AgentAnswers } from './loop/agent-answers.js';
import { AnswerComposer } from './runner/answer-composer.js';
import { AnsweringController } from './intake/answering.http.js';
import { AnsweringOptions } from './loop/answering-options.js';
import { AskQuestionHandler, ResumeTurnHandler } from './intake/question.commands.js';
import { AutomaticTurnIntake } from './intake/automatic-turn-intake.js';
import { AttachedFiles } from './loop/attached-files.js';
import { Continuations } from './continuations/continuations.js';
import { EndUnclaimedTurns } from './runner/end-unclaimed-turns.ticker.js';
import { ExpirePauses } from './runner/expire-pauses.ticker.js';
import { QuestionResolver } from './intake/resolve-question.js';
import { StopAnswerHandler } from './runner/stop-answer.commands.js';
import { StopAnswerController } from './runner/stop-answer.http.js';
import { SweepTurns } from './runner/sweep-turns.ticker.js';
import { DeleteArtifactsOfConversation } from './delete-artifacts-of-conversation.reaction.js';
import { PurgeDeletedConversations } from './purge-deleted-conversations.js';
import { TitleConversation } from './title-conversation.reaction.js';
import { WorkflowPins } from './intake/workflow-pins.js';
import { TurnCloser } from './runner/turn-closer.js';
import { SharedUse } from './runner/shared-use.js';
import { StopTurnsOfEndedGrants } from './runner/stop-turns-of-ended-grants.reaction.js';
import { TurnRunner } from './runner/turn-runner.js';
import { TurnTaker } from './intake/turn-taker.js';
import { TurnsWorker } from './runner/turns-worker.js';
import { UnclaimedTurns } from './runner/unclaimed-turns.js';
import { HeadlessAnswering } from './runner/headless-answering.port.js';
import { HeadlessAnswers } from './runner/headless-answers.js';
import { Answers } from './intake/answers.port.js';
import { JournaledAnswers } from './intake/journaled-answers.js';
import { AutomaticTurns } from './intake/automatic-turns.port.js';
import { DropContinuations } from './runner/drop-continuations.js';
import { answeringRejections } from './answering.rejections.js';
import { WorkflowsModule } from '../../resources/workflows/workflows.module.js';
import { WorkflowRunQueries } from '../../../projections/workflow-runs/workflow-runs.queries.js';
import { ArtifactsModule } from '../../resources/artifacts/artifacts.module.js';
import { CodeModule } from '../../resources/code/python/code.module.js';
import { CodeNode } from './workflow-runs/nodes/code-node.js';
import { AgentNode } from './workflow-runs/nodes/agent-node.js';
import { DeleteArtifactsOfRuns } from './workflow-runs/delete-artifacts-of-runs.reaction.js';
import { NodeFiles } from './workflow-runs/nodes/node-files.js';
import { EndWorkflowRuns } from './workflow-runs/end-workflow-runs.reaction.js';
import { NodeTemplates } from './workflow-runs/nodes/node-templates.js';
import { PlainNodes } from './workflow-runs/nodes/plain-nodes.js';
import { PurgeRunsOfWorkflow } from './workflow-runs/purge-runs-of-workflow.reaction.js';
import { PurgeWorkflowRuns } from './workflow-runs/purge-workflow-runs.js';
import { RunRecords } from './workflow-runs/run-records.js';
import { RunValues } from './workflow-runs/run-values.js';
import { WorkflowAnswers } from './workflow-runs/workflow-answers.js';
import { WorkflowNodes } from './workflow-runs/nodes/workflow-nodes.js';
import { workflowRunHandlers } from './workflow-runs/run/workflow-run.commands.js';
import { workflowRunPurges } from './workflow-runs/run/workflow-run.purges.js';
import { workflowRunsRejections } from './workflow-runs/workflow-runs.rejections.js';
import { WorkflowRunsController } from './workflow-runs/workflow-runs.http.js';
import { DropContinuationHandler } from './continuations/continuation.commands.js';

import { AgentPrompt } from './research/agent-prompt.js';
import { KeptFindings } from './research/kept-findings.js';
import { PurgeResearches } from './research/purge-researches.js';
import { ResearchAnswers } from './research/research-answers.js';
import { ResearchSteps } from './research/research-steps.js';
import { researchHandlers } from './research/research.commands.js';
import { researchPurges } from './research/research.purges.js';

const REACTIONS = [
  StopTurnsOfEndedGrants,
  TitleConversation,
  DeleteArtifactsOfConversation,
  DeleteArtifactsOfRuns,
  EndWorkflowRuns,
  PurgeRunsOfWorkflow,
];
const TICKERS = [SweepTurns, ExpirePauses, EndUnclaimedTurns];
const RETENTION = [DropContinuations, PurgeWorkflowRuns, PurgeResearches, PurgeDeletedConversations];
const WORKFLOW_RUNS = [
  CodeNode,
  NodeFiles,
  AgentNode,
  NodeTemplates,
  PlainNodes,
  RunRecords,
  RunValues,
  WorkflowAnswers,
  WorkflowNodes,
  WorkflowRunQueries,
  ...workflowRunHandlers,
];
const RESEARCH = [AgentPrompt, KeptFindings, ResearchSteps, ResearchAnswers, ...researchHandlers];

@Module({
  imports: [
    ArtifactsModule,
    CodeModule,
    AttachmentsModule,
    LimitsModule,
    SourcesModule,
    JournalModule,
    PromptsModule,
    ToolsModule,
    ConversationModule,
    WorkflowsModule,
  ],
  controllers: [AnsweringController, StopAnswerController, WorkflowRunsController],
  providers: [
    ...REACTIONS,
    ...TICKERS,
    ...RETENTION,
    ...WORKFLOW_RUNS,
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
    WorkflowPins,
    EnqueuedTurns,
    AskQuestionIntake,
    AgentLoop,
    Continuations,
    DropContinuationHandler,
    AttachedFiles,
    AgentAnswers,
    AnswerGuards,
    InputGuard,
    { provide: InputChecks, useExisting: InputGuard },
    ...RESEARCH,
    AnswerComposer,
    AskQuestionHandler,
    ResumeTurnHandler,
    StopAnswerHandler,
    TurnCloser,
    SharedUse,
    TurnRunner,
    UnclaimedTurns,
    TurnsWorker,
    { provide: TurnTaker, useExisting: TurnsWorker },
    { provide: HeadlessAnswering, useClass: HeadlessAnswers },
    { provide: AutomaticTurns, useClass: AutomaticTurnIntake },
    { provide: Answers, useClass: JournaledAnswers },
  ],
  exports: [...REACTIONS, ...TICKERS, ...RETENTION, TurnRunner, HeadlessAnswering, AutomaticTurns, Answers, InputChecks],
})
export class AnsweringModule {
  static readonly reactions = REACTIONS;
  static readonly tickers = TICKERS;
  static readonly retention = RETENTION;
  static readonly purges = [...workflowRunPurges, ...researchPurges];
  static readonly rejections = { ...answeringRejections, ...workflowRunsRejections };
}
