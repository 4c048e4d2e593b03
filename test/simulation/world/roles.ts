import { NO_GRANTS, NOTHING_SHARED } from '../../support/no-grants.js';
import { noGuards, NoGuardrails, noInputGuard } from '../../support/guardrails.js';
import { LogEarlierTurns } from '../../support/log-earlier-turns.js';
import type { Logger } from 'pino';
import { type AgentQueries, type AgentRecord } from '../../../projections/agents/agents.queries.js';
import { EnqueuedTurns } from '../../../src/dialogue/answering/intake/enqueued-turns.js';
import { AskQuestionIntake } from '../../../src/dialogue/answering/intake/ask-question-intake.js';
import { AgentLoop } from '../../../src/dialogue/answering/loop/agent-loop.js';
import { AgentAnswers } from '../../../src/dialogue/answering/loop/agent-answers.js';
import type { WorkflowAnswers } from '../../../src/dialogue/answering/workflow-runs/workflow-answers.js';
import { AnswerComposer } from '../../../src/dialogue/answering/runner/answer-composer.js';
import { AnsweringOptions } from '../../../src/dialogue/answering/loop/answering-options.js';
import { AskQuestionHandler, ResumeTurnHandler } from '../../../src/dialogue/answering/intake/question.commands.js';
import { AttachedFiles } from '../../../src/dialogue/answering/loop/attached-files.js';
import { Continuations } from '../../../src/dialogue/answering/continuations/continuations.js';
import { ExpirePauses } from '../../../src/dialogue/answering/runner/expire-pauses.ticker.js';
import type { WorkflowPins } from '../../../src/dialogue/answering/intake/workflow-pins.js';
import { QuestionResolver } from '../../../src/dialogue/answering/intake/resolve-question.js';
import { StopAnswerHandler } from '../../../src/dialogue/answering/runner/stop-answer.commands.js';
import { SweepTurns } from '../../../src/dialogue/answering/runner/sweep-turns.ticker.js';
import { EndUnclaimedTurns } from '../../../src/dialogue/answering/runner/end-unclaimed-turns.ticker.js';
import { UnclaimedTurns } from '../../../src/dialogue/answering/runner/unclaimed-turns.js';
import { TurnCloser } from '../../../src/dialogue/answering/runner/turn-closer.js';
import { TurnRunner } from '../../../src/dialogue/answering/runner/turn-runner.js';
import { TurnsWorker } from '../../../src/dialogue/answering/runner/turns-worker.js';
import { HeadlessAnswers } from '../../../src/dialogue/answering/runner/headless-answers.js';
import type { AttachmentShelf } from '../../../src/resources/attachments/attachment-shelf.port.js';
import { DeleteConversationHandler } from '../../../src/dialogue/conversation/conversation.commands.js';
import { WAITING } from '../../../src/dialogue/answering/loop/background-calls.port.js';
import type { Blobs } from '../../../src/kernel/blobs.js';
import type { Clock } from '../../../src/kernel/clock.js';
import type { EventStore } from '../../../src/kernel/event-sourcing/event-store.js';
import type { Ids } from '../../../src/kernel/ids.js';
import type { Ticker } from '../../../src/kernel/event-sourcing/ticker.js';
import type { KeyValue } from '../../../src/kernel/messaging/key-value.js';
import type { Reaction } from '../../../src/kernel/event-sourcing/reaction.js';
import type { Signals } from '../../../src/kernel/messaging/signals.js';
import type { Timing } from '../../../src/kernel/timing.js';
import type { WorkQueue } from '../../../src/kernel/messaging/work-queue.js';
import type { LanguageModels } from '../../../src/resources/models/model/language-model.port.js';
import { Tickers } from '../../../src/platform/tickers/tickers.js';
import { isOutage } from '../../../src/platform/supervision/outage.js';
import { MessageFeed } from '../../../src/dialogue/journal/message-feed.js';
import { RecentMessages } from '../../../src/dialogue/journal/message-access.js';
import { AnswerReaders } from '../../../src/dialogue/journal/answer-readers.js';
import { LastWrites } from '../../../src/kernel/event-sourcing/last-writes.js';
import { FrameTail } from '../../../src/dialogue/journal/frame-tail.js';
import { TurnActivity } from '../../../src/dialogue/journal/turn-activity.js';
import { QueuedRuns } from '../../../src/background/runs/queued-runs.js';
import { RunAgent, type RunResult } from '../../../src/background/runs/run-agent.js';
import {
  AbandonAttemptHandler,
  FailRunHandler,
  FinishEffectHandler,
  FinishRunHandler,
  GiveUpRunHandler,
  QueueRunHandler,
  RefuseRunHandler,
  StartEffectHandler,
  StartRunHandler,
} from '../../../src/background/runs/run.commands.js';
import {
  EndAttemptHandler,
  ProgressTaskHandler,
  QueueTask,
  QueueTaskHandler,
  StartTaskHandler,
} from '../../../src/work/tasks/task.commands.js';
import { SweepTasks } from '../../../src/work/tasks/sweep-tasks.ticker.js';
import { type TaskAttempt, TaskRunners } from '../../../src/work/tasks/task-runner.port.js';
import { TASK_WORKER_OPTIONS, TaskWorker } from '../../../src/work/tasks/task-worker.js';
import type { Toolbox } from '../../../src/resources/tools/toolbox/toolbox.port.js';
import { AcceptDeliveryHandler } from '../../../src/triggers/webhooks/delivery.commands.js';
import { RunDeliveries } from '../../../src/triggers/webhooks/run-deliveries.reaction.js';
import { WebhookOptions } from '../../../src/triggers/webhooks/webhook-options.js';
import type { JobQueries } from '../../../projections/jobs/jobs.queries.js';
import type { MonitorQueries } from '../../../projections/monitors/monitors.queries.js';
import type { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import type { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import type { TaskQueries } from '../../../projections/tasks/tasks.queries.js';
import type { UnsealedTurnQueries } from '../../../projections/unsealed-turns/unsealed-turns.queries.js';
import type { FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import { followUpRoles, jobRunner, type Rooms, scheduleRoles } from './background-roles.js';
import { MESSAGE_RETENTION_SECONDS } from './background-settings.js';
import type { Mutant } from './mutant.js';
import { type Acknowledged, NotedStreams } from './noted-streams.js';
import { idempotencyKeys, testFingerprints } from '../../support/idempotency-keys.js';
import { NoLimits } from '../../support/no-limits.js';
import { HandledCommands } from '../../support/commands-over.js';
import { NO_RESEARCH } from '../../support/tool-turns.js';
import { turnHandlers } from '../../support/turn-commands.js';

const UNSEEN_LOOK_MS = 15;
const STALE_PRODUCER_MS = 3_000;
const NO_WORKER_TURN_MS = 6_000;
const APPROVAL_TTL_MS = 5_000;
const IDEMPOTENCY_TTL_MS = 86_400_000;
/** The simulation has no agents that run workflows. */
const NO_WORKFLOWS = {} as WorkflowAnswers;

export const AGENT_ID = '00000000-0000-4000-8000-00000000a6e7';

const options = new AnsweringOptions({
  worker: true,
  turnsConcurrentMax: 16,
  streamsMax: 100,
  staleProducerMs: STALE_PRODUCER_MS,
  noWorkerTurnMs: NO_WORKER_TURN_MS,
  idempotencyTtlMs: IDEMPOTENCY_TTL_MS,
  approvalTtlMs: APPROVAL_TTL_MS,
  messageEventsRetentionSeconds: MESSAGE_RETENTION_SECONDS,
  shutdownMs: 1_000,
  apiBaseUrl: null,
  titleModelId: undefined,
});

/** The ports that the roles of a process use. */
export type Ports = Readonly<{
  store: EventStore;
  signals: Signals;
  keyValue: KeyValue;
  queue: WorkQueue;
  clock: Clock;
  timing: Timing;
  ids: Ids;
  models: LanguageModels;
  toolbox: Toolbox;
  unsealedTurns: UnsealedTurnQueries;
  tasks: TaskQueries;
  schedules: ScheduleQueries;
  jobs: JobQueries;
  monitors: MonitorQueries;
  followUps: FollowUpQueries;
  blobs: Blobs;
  rooms: Rooms;
  acknowledged: Acknowledged[];
  log: Logger;
  mutant: Mutant | undefined;
}>;

/** No agent of the simulation runs a workflow. */
const NO_WORKFLOW_PINS = { pin: async () => undefined } as unknown as WorkflowPins;

/** Fails the first attempt at every fourth run for a reason of its own, because an outage does not count as a failed attempt. */
class FickleRuns extends RunAgent {
  override async run(task: TaskAttempt): Promise<RunResult> {
    if (task.attempt === 1 && /[0-3]$/.test(task.taskId)) throw new Error('The first attempt fails.');
    return super.run(task);
  }
}

/** The roles of a process as the modules assemble them, without Nest. */
export function rolesOver(ports: Ports) {
  const {
    store,
    signals,
    keyValue,
    queue,
    clock,
    timing,
    ids,
    models,
    toolbox,
    unsealedTurns,
    tasks,
    log,
    mutant,
    blobs,
    rooms,
  } = ports;
  const streams = new NotedStreams(store, timing, ports.acknowledged);
  const commands = new HandledCommands().handle(...turnHandlers(streams));
  const agents = { byId: (id: string) => Promise.resolve(id === AGENT_ID ? AGENT : undefined) } as unknown as AgentQueries;
  const shelf = { pick: async () => [], recall: async () => [] } as unknown as AttachmentShelf;
  const prompts = { byId: async () => undefined } as unknown as PromptQueries;
  const resolver = new QuestionResolver(
    streams,
    agents,
    models,
    toolbox,
    shelf,
    prompts,
    new NoGuardrails(),
    NO_WORKFLOW_PINS,
    NO_GRANTS,
  );
  const feed = new MessageFeed(store, signals, timing);
  const activity = new TurnActivity(streams);
  const continuations = new Continuations(blobs);
  const agentAnswers = new AgentAnswers(
    { search: async () => ({ chunks: [], failedSources: [] }) },
    { render: async () => ({ text: '', holdsDocuments: false }), fill: async (text) => ({ text, holdsDocuments: false }) },
    models,
    new AgentLoop(models, toolbox, ids),
    continuations,
    clock,
    options,
    new AttachedFiles(shelf),
  );
  const composer = new AnswerComposer(agentAnswers, NO_RESEARCH, NO_WORKFLOWS, noGuards(commands));
  const closer = new TurnCloser(store, streams, commands, continuations, clock, options);
  const calls = rooms.followUps ? jobRunner(ports, { streams, commands, blobs }) : WAITING;
  const runner = new TurnRunner(streams, commands, signals, feed, composer, closer, calls, timing, ids, NOTHING_SHARED);
  const earlierTurns = new LogEarlierTurns(store);
  const runners = new TaskRunners();
  runners.add(
    new FickleRuns(
      streams,
      commands,
      new HeadlessAnswers(resolver, composer, streams),
      { admit: async () => ({ allowed: true }) },
      timing,
    ),
  );
  const runs = new QueuedRuns(commands, { queue: (task, cause) => commands.execute(new QueueTask(task, cause)) });
  commands.handle(
    new AskQuestionHandler(streams, earlierTurns),
    new ResumeTurnHandler(streams, clock),
    new StopAnswerHandler(streams, signals),
    new DeleteConversationHandler(streams, signals),
    new QueueTaskHandler(streams, queue, runners),
    new QueueRunHandler(streams),
    new GiveUpRunHandler(streams),
    new RefuseRunHandler(streams),
    new StartRunHandler(streams),
    new StartEffectHandler(streams),
    new FinishEffectHandler(streams),
    new FinishRunHandler(streams),
    new AbandonAttemptHandler(streams),
    new FailRunHandler(streams),
    new StartTaskHandler(streams, clock),
    new ProgressTaskHandler(streams),
    new EndAttemptHandler(streams, clock),
    new AcceptDeliveryHandler(
      streams,
      clock,
      ids,
      new WebhookOptions(100_000, { ttlMs: IDEMPOTENCY_TTL_MS, mismatch: 'original' }),
      testFingerprints,
    ),
  );
  const shared = { commands, streams, blobs, runs, resolver };
  const followUps = rooms.followUps ? followUpRoles(ports, shared) : undefined;
  const background = [...(rooms.schedules ? [scheduleRoles(ports, shared)] : []), ...(followUps ? [followUps] : [])];
  const enqueued = new EnqueuedTurns(timing, options);
  const turnsWorker = new TurnsWorker(queue, keyValue, runner, timing, ids, options);
  const taskWorker = new TaskWorker(
    { store, streams, commands, keyValue, workQueue: queue, blobs, timing, ids, runners, isOutage },
    { ...TASK_WORKER_OPTIONS, concurrency: 4 },
  );
  const tickers = new Tickers(
    [
      new SweepTurns(unsealedTurns, keyValue, runner, options, timing),
      new ExpirePauses(unsealedTurns, commands, runner, ids),
      new SweepTasks(tasks, keyValue, queue, runners, timing),
      ...unclaimedTurns(ports, streams, commands, closer, feed, enqueued),
      ...background.flatMap((room) => room.tickers),
    ].filter((ticker) => mutant?.ticks?.(ticker) ?? true),
    clock,
    timing,
    log,
  );
  const tail = new FrameTail(feed, activity, new AnswerReaders(commands, store, new LastWrites()), new RecentMessages(timing));
  return {
    intake: new AskQuestionIntake(
      resolver,
      commands,
      streams,
      idempotencyKeys(streams, clock),
      queue,
      clock,
      ids,
      options,
      new NoLimits(),
      earlierTurns,
      noInputGuard(streams, commands),
      // If workers are not seen, no process that accepts questions has a free slot for them.
      rooms.unseenWorkersMs === undefined ? turnsWorker : { seat: () => undefined },
      tail,
      enqueued,
    ),
    ids,
    commands,
    handlers: commands.handlers,
    followUps: followUps?.followUps,
    automatic: followUps?.automatic,
    tail,
    reactions: [new RunDeliveries(runs) as Reaction, ...background.flatMap((room) => room.reactions)],
    start: () => {
      turnsWorker.onApplicationBootstrap();
      void taskWorker.work(new AbortController().signal);
      tickers.start();
    },
  };
}

/** Ends questions while no worker is alive. In some seeds it also runs while workers are, so that the two compete. */
function unclaimedTurns(
  ports: Ports,
  streams: NotedStreams,
  commands: HandledCommands,
  closer: TurnCloser,
  feed: MessageFeed,
  enqueued: EnqueuedTurns,
) {
  const { keyValue, timing, ids, unsealedTurns, rooms } = ports;
  const unclaimed = new UnclaimedTurns(commands, closer, streams, feed, timing, ids);
  const sweep = { recoverOrphans: () => Promise.resolve() } as unknown as SweepTurns;
  const ticker = (leases: KeyValue, settings: Partial<AnsweringOptions['settings']>): Ticker =>
    new EndUnclaimedTurns(
      unsealedTurns,
      leases,
      unclaimed,
      sweep,
      new AnsweringOptions({ ...options.settings, ...settings }),
      enqueued,
      timing,
    );
  const noWorkerTurnMs = rooms.unseenWorkersMs;
  if (noWorkerTurnMs === undefined) return [ticker(keyValue, {})];
  const hurried = ticker({ keys: () => Promise.resolve([]) } as unknown as KeyValue, { staleProducerMs: 1, noWorkerTurnMs });
  return [{ name: hurried.name, everyMs: UNSEEN_LOOK_MS, tick: (now: Date) => hurried.tick(now) }];
}

export type Roles = ReturnType<typeof rolesOver>;

const AGENT = {
  id: AGENT_ID,
  ownerId: 'alice',
  status: 'published',
  configuration: {
    name: 'Agent',
    agentType: 'classic',
    promptId: '',
    source: '',
    additionalSources: [],
    chunks: 0,
    retriever: 'classic',
    tools: ['tool-1'],
    defaultModelId: '',
    jsonSchema: null,
    config: {},
    tokenLimit: null,
    requestLimit: null,
  },
} as unknown as AgentRecord;
