import { Injectable } from '@nestjs/common';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { Blobs } from '../../kernel/blobs.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { jobCodec } from '../../background/jobs/job.codec.js';
import type { JobForgotten } from '../../background/jobs/job.events.js';
import { runCodec } from '../../background/runs/run.codec.js';
import { type RunForgotten, runStream } from '../../background/runs/run.events.js';
import { scheduleRunCodec } from '../../triggers/schedules/runs/scheduled-run.codec.js';
import type { ScheduledRunOutputForgotten } from '../../triggers/schedules/runs/scheduled-run.events.js';
import { chunksCodec } from '../../resources/sources/source/source.codec.js';
import type { SourceChunksForgotten } from '../../resources/sources/source/source.events.js';
import { taskCodec } from '../tasks/task.codec.js';
import type { TaskForgotten } from '../tasks/task.events.js';
import { expiredWakesCodec } from '../../background/follow-ups/expired-wakes.codec.js';
import type { WakesExpired } from '../../background/follow-ups/expired-wakes.events.js';
import { wakesStream } from '../../background/follow-ups/wakes.events.js';
import { deliveryCodec } from '../../triggers/webhooks/delivery.codec.js';
import type { DeliveryAccepted } from '../../triggers/webhooks/delivery.events.js';

type Forgotten = JobForgotten | RunForgotten | ScheduledRunOutputForgotten | SourceChunksForgotten | TaskForgotten | WakesExpired;

/**
 * What was stated to be forgotten goes. Steps: the blob that goes with it is deleted; the stream that says so is cut off
 * before it; of a run whose delivery asked for it, that stream is cut off after the deliveries whose runs are all forgotten.
 * Each repeats without harm: nobody else has that blob, and a cut is never taken back.
 */
@Injectable()
export class CutOffForgotten implements Reaction<Forgotten> {
  readonly name = 'cut-off-forgotten';
  readonly categories = ['chunks', 'expiredWakes', 'job', 'run', 'scheduleRun', 'task'];
  readonly codec: Codec<Forgotten> = {
    ...chunksCodec,
    ...jobCodec,
    ...runCodec,
    ...scheduleRunCodec,
    ...taskCodec,
    ...expiredWakesCodec,
  };
  readonly on = {
    JobForgotten: (event: Recorded<JobForgotten>) => this.cut(event),
    SourceChunksForgotten: (event: Recorded<SourceChunksForgotten>) => this.cut(event),
    ScheduledRunOutputForgotten: (event: Recorded<ScheduledRunOutputForgotten>) => this.cut(event),
    TaskForgotten: (event: Recorded<TaskForgotten>) => this.cutTask(event),
    RunForgotten: (event: Recorded<RunForgotten>) => this.cutRun(event),
    WakesExpired: ({ data }: Recorded<WakesExpired>) =>
      this.store.setRetention(wakesStream(data.conversationId), { truncateBefore: data.before }),
  };

  constructor(
    private readonly store: EventStore,
    private readonly blobs: Blobs,
  ) {}

  private cut({ stream, revision }: Recorded<Forgotten>): Promise<void> {
    return this.store.setRetention(stream, { truncateBefore: revision });
  }

  private async cutTask(event: Recorded<TaskForgotten>): Promise<void> {
    const { result } = event.data;
    if (result) await this.blobs.delete(result.sha256);
    await this.cut(event);
  }

  private async cutRun(event: Recorded<RunForgotten>): Promise<void> {
    await this.cut(event);
    const { delivery } = event.data;
    if (delivery) await this.cutDeliveries(delivery.stream);
  }

  /** Deliveries under one key share a stream, and a later one may still be kept. */
  private async cutDeliveries(stream: string): Promise<void> {
    for await (const page of this.store.read(stream)) {
      for (const { revision, type, data } of page) {
        if (type in deliveryCodec) {
          const { taskId } = JSON.parse(data) as DeliveryAccepted['data'];
          if (!(await this.isForgotten(taskId))) return;
        }
        await this.store.setRetention(stream, { truncateBefore: revision + 1 });
      }
    }
  }

  private async isForgotten(runId: string): Promise<boolean> {
    for await (const page of this.store.read(runStream(runId), { direction: 'backwards', limit: 1 }))
      return page[0]!.type === ('RunForgotten' satisfies RunForgotten['type']);
    return false;
  }
}
