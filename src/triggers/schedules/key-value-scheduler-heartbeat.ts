import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Ids } from '../../kernel/ids.js';
import { KeyValue, KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import { holdLease, type Lease } from '../../kernel/messaging/lease.js';
import { Timing } from '../../kernel/timing.js';
import { SCHEDULER_BEHIND_MAX_MS, SchedulerHeartbeat } from './scheduler-heartbeat.port.js';

/** Prefix of the key that each running scheduler holds as a lease. */
const SCHEDULER_LEASES = 'schedulers.';
/** Key of the time up to which all due slots have been decided. */
export const SCHEDULER_KEPT_UP = 'scheduler-kept-up';

/** How long a crashed scheduler still counts as running. */
const PRESENCE_TTL_MS = 15_000;
/** Minimum interval between two writes of the heartbeat. Readers accept an age of fifteen minutes. */
const SAID_EVERY_MS = 5_000;

/** Stores the heartbeat in the shared key-value store: one lease per scheduler, and the time up to which slots are decided. */
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

  /** Writes nothing while the store is unavailable, so the previous heartbeat expires. */
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
