import { Injectable } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Cause, Recorded } from '../../kernel/event-sourcing/events.js';
import { nothingYet, Streams } from '../../kernel/event-sourcing/streams.js';
import { TaskQueue } from '../../work/tasks/task-queue.port.js';
import { usedBy } from './run-use.policy.js';
import { runCodec } from './run.codec.js';
import { forgetRun, queueRun, run } from './run.decider.js';
import { type DeliveryPlace, type RunEvent, type RunId, type RunQueued, runStream } from './run.events.js';
import { RUN_AGENT, Runs } from './runs.port.js';

/** Runs as tasks. What is to be done is in the log before the task is, so a crash between the two leaves nothing half done once it is repeated. */
@Injectable()
export class QueuedRuns extends Runs {
  constructor(
    private readonly streams: Streams,
    private readonly tasks: TaskQueue,
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {
    super();
  }

  async queue(data: RunQueued['data'], cause: Cause): Promise<void> {
    const { runId, ownerId } = data;
    await this.streams.transact(runStream(runId), run, queueRun(data), cause, nothingYet(run));
    await this.tasks.queue({ taskId: runId, kind: RUN_AGENT, ownerId, input: {} }, cause);
  }

  async forget(runId: RunId, delivery: DeliveryPlace | null, cause: Cause): Promise<void> {
    const used = usedBy(await this.eventsOf(runId));
    await this.streams.transact(runStream(runId), run, forgetRun(runId, delivery, used, this.clock.now()), cause);
  }

  private async eventsOf(runId: RunId): Promise<readonly Recorded<RunEvent>[]> {
    const events: Recorded<RunEvent>[] = [];
    for await (const page of this.store.read(runStream(runId))) {
      events.push(...page.flatMap((stored) => decode<RunEvent>(runCodec, stored) ?? []));
    }
    return events;
  }
}
