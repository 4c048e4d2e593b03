import { CommandHandler } from '@nestjs/cqrs';
import type { HistoryPin } from '../../dialogue/answering/runner/headless-answering.port.js';
import type { CalledTool, CallEndStatus, TurnSettings, Usage } from '../../dialogue/conversation/conversation.events.js';
import { Clock } from '../../kernel/clock.js';
import { Command, type Handler } from '../../kernel/commands.js';
import { recordedEvents } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { type Folded, nothingYet, Streams } from '../../kernel/event-sourcing/streams.js';
import { usedBy } from './run-use.policy.js';
import { runCodec } from './run.codec.js';
import {
  abandonAttempt,
  failRun,
  finishEffect,
  finishRun,
  giveUpRun,
  purgeRun,
  queueRun,
  refuseRun,
  type Run,
  run,
  startEffect,
  startRun,
} from './run.decider.js';
import {
  type DeliveryPlace,
  type EffectNumber,
  type RunFailed,
  type RunFinished,
  type RunId,
  type RunQueued,
  runStream,
} from './run.events.js';

/** Queues a headless run of an agent. Idempotent. */
export class QueueRun extends Command<void> {
  constructor(
    readonly run: RunQueued['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(QueueRun)
export class QueueRunHandler implements Handler<QueueRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ run: data, cause }: QueueRun): Promise<void> {
    await this.streams.transact(runStream(data.runId), run, queueRun(data), cause, nothingYet(run));
  }
}

/** Refuses a run because of limits or quota. Resolves to the new state of the run. */
export class RefuseRun extends Command<Run> {
  constructor(
    readonly runId: RunId,
    readonly error: string,
    readonly known: Folded<Run>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RefuseRun)
export class RefuseRunHandler implements Handler<RefuseRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ runId, error, known, cause }: RefuseRun): Promise<Run> {
    return (await this.streams.transact(runStream(runId), run, refuseRun(runId, error), cause, known)).state;
  }
}

/** The values that the first attempt of a run pins for all attempts. */
export type RunPins = Readonly<{ settings: TurnSettings; history?: HistoryPin | undefined }>;

/** Begins an attempt of a run. Resolves to the new state of the run. */
export class StartRun extends Command<Folded<Run>> {
  constructor(
    readonly runId: RunId,
    readonly attempt: number,
    readonly pins: RunPins,
    readonly known: Folded<Run>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StartRun)
export class StartRunHandler implements Handler<StartRun> {
  constructor(private readonly streams: Streams) {}

  execute({ runId, attempt, pins: { settings, history }, known, cause }: StartRun): Promise<Folded<Run>> {
    return this.streams.transact(runStream(runId), run, startRun(runId, attempt, settings, history), cause, known);
  }
}

/**
 * Records that an attempt is about to make a call with effects. Resolves to the new state of the run.
 * @throws Rejection run-attempt-superseded
 */
export class StartEffect extends Command<Folded<Run>> {
  constructor(
    readonly runId: RunId,
    readonly attempt: number,
    readonly call: CalledTool,
    readonly known: Folded<Run>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StartEffect)
export class StartEffectHandler implements Handler<StartEffect> {
  constructor(private readonly streams: Streams) {}

  execute({ runId, attempt, call, known, cause }: StartEffect): Promise<Folded<Run>> {
    return this.streams.record(runStream(runId), run, startEffect(runId, attempt, call), cause, known);
  }
}

/** The outcome of a call as the model reads it. */
export type EffectEnd = Readonly<{ status: CallEndStatus; result: string }>;

/** Records the end of a call with effects. Resolves to the new state of the run. */
export class FinishEffect extends Command<Folded<Run>> {
  constructor(
    readonly runId: RunId,
    readonly effect: EffectNumber,
    readonly end: EffectEnd,
    readonly known: Folded<Run>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(FinishEffect)
export class FinishEffectHandler implements Handler<FinishEffect> {
  constructor(private readonly streams: Streams) {}

  execute({ runId, effect, end: { status, result }, known, cause }: FinishEffect): Promise<Folded<Run>> {
    return this.streams.record(runStream(runId), run, finishEffect(runId, effect, status, result), cause, known);
  }
}

/** Records the answer of an attempt. Resolves to the new state of the run. @throws Rejection run-attempt-superseded */
export class FinishRun extends Command<Run> {
  constructor(
    readonly finished: RunFinished['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(FinishRun)
export class FinishRunHandler implements Handler<FinishRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ finished, cause }: FinishRun): Promise<Run> {
    return (await this.streams.record(runStream(finished.runId), run, finishRun(finished), cause)).state;
  }
}

/** Records that an attempt ended without an answer. Another attempt may follow. */
export class AbandonAttempt extends Command<void> {
  constructor(
    readonly runId: RunId,
    readonly attempt: number,
    readonly used: Readonly<{ modelId: string; usage: Usage | null }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(AbandonAttempt)
export class AbandonAttemptHandler implements Handler<AbandonAttempt> {
  constructor(private readonly streams: Streams) {}

  async execute({ runId, attempt, used: { modelId, usage }, cause }: AbandonAttempt): Promise<void> {
    await this.streams.record(runStream(runId), run, abandonAttempt(runId, attempt, modelId, usage), cause);
  }
}

/** Records the final failure of a run. */
export class FailRun extends Command<void> {
  constructor(
    readonly runId: RunId,
    readonly error: string,
    readonly cause: Cause,
    readonly reason?: RunFailed['data']['reason'],
  ) {
    super();
  }
}

@CommandHandler(FailRun)
export class FailRunHandler implements Handler<FailRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ runId, error, cause, reason }: FailRun): Promise<void> {
    await this.streams.record(runStream(runId), run, failRun(runId, error, reason), cause);
  }
}

const NOT_STARTED_TEXT = 'The run did not start within its time limit.';

/** Ends a run as timed out if it has not started, so that no worker starts it later. */
export class GiveUpRun extends Command<void> {
  constructor(
    readonly runId: RunId,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(GiveUpRun)
export class GiveUpRunHandler implements Handler<GiveUpRun> {
  constructor(private readonly streams: Streams) {}

  async execute({ runId, cause }: GiveUpRun): Promise<void> {
    await this.streams.transact(runStream(runId), run, giveUpRun(runId, NOT_STARTED_TEXT), cause);
  }
}

/** Purges an ended run. Only its usage is kept. */
export class PurgeRun extends Command<void> {
  constructor(
    readonly runId: RunId,
    readonly delivery: DeliveryPlace | null,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PurgeRun)
class PurgeRunHandler implements Handler<PurgeRun> {
  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  async execute({ runId, delivery, cause }: PurgeRun): Promise<void> {
    const used = usedBy(await recordedEvents(this.store, runStream(runId), runCodec));
    await this.streams.transact(runStream(runId), run, purgeRun(runId, delivery, used, this.clock.now()), cause);
  }
}

export const runHandlers = [
  AbandonAttemptHandler,
  FailRunHandler,
  FinishEffectHandler,
  FinishRunHandler,
  GiveUpRunHandler,
  PurgeRunHandler,
  QueueRunHandler,
  RefuseRunHandler,
  StartEffectHandler,
  StartRunHandler,
];
