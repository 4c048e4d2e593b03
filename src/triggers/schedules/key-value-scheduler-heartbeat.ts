import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Ids } from '../../kernel/ids.js';
import { KeyValue, KeyValueUnavailable } from '../../kernel/key-value.js';
import { holdLease, type Lease } from '../../kernel/lease.js';
import { Timing } from '../../kernel/timing.js';
import { SCHEDULER_BEHIND_MAX_MS, SchedulerHeartbeat } from './scheduler-heartbeat.port.js';

/** Schedulers alive hold a key that starts so. */
const SCHEDULER_LEASES = 'schedulers.';
/** Until when everything that had come was decided on. */
export const SCHEDULER_KEPT_UP = 'scheduler-kept-up';

/** How long a scheduler that has died still counts as there. */
const PRESENCE_TTL_MS = 15_000;
/** The heartbeat is written no more often than this: readers compare it with fifteen minutes. */
const SAID_EVERY_MS = 5_000;

/** The pulse as the processes share it: a lease of each scheduler, and how far they have come. */
@Injectable()
export class KeyValueSchedulerHeartbeat extends SchedulerHeartbeat implements BeforeApplicationShutdown {
  private readonly id: string;
  private presence: Lease | undefined;
  private said = -Infinity;
  private isOver = false;

  constructor(
    private readonly keyValue: KeyValue,
    private readonly timing: Timing,
    private readonly ids: Ids,
  ) {
    super();
    this.id = ids.next();
  }

  /** Where the store is away nothing is said, and what was said before runs out. */
  async beat(now: Date): Promise<void> {
    if (this.isOver || Math.abs(now.getTime() - this.said) < SAID_EVERY_MS) return;
    await orUnavailable(undefined, async () => {
      await this.bePresent();
      await this.keyValue.put(SCHEDULER_KEPT_UP, now.toISOString(), { ttlMs: SCHEDULER_BEHIND_MAX_MS });
      this.said = now.getTime();
    });
  }

  isKeepingUp(now: Date): Promise<boolean> {
    return orUnavailable(false, async () => {
      const [schedulers, keptUp] = await Promise.all([
        this.keyValue.keys(SCHEDULER_LEASES),
        this.keyValue.get(SCHEDULER_KEPT_UP),
      ]);
      if (schedulers.length === 0 || !keptUp) return false;
      return now.getTime() - Date.parse(keptUp.value) <= SCHEDULER_BEHIND_MAX_MS;
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isOver = true;
    await this.presence?.release();
  }

  private async bePresent(): Promise<void> {
    if (this.presence && !this.presence.lost.aborted) return;
    this.presence = await holdLease(this.keyValue, `${SCHEDULER_LEASES}${this.id}`, {
      ttlMs: PRESENCE_TTL_MS,
      renewMs: PRESENCE_TTL_MS / 3,
      holder: this.id,
      timing: this.timing,
      ids: this.ids,
    });
  }
}

async function orUnavailable<T>(instead: T, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeyValueUnavailable) return instead;
    throw error;
  }
}
