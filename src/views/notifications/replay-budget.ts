import { Injectable } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';
import { userKey } from './user.events.js';
import { UserEventsOptions } from './user-events-options.js';

/** The maximum number of attempts after concurrent updates. Then the request is refused for one second. */
const RACES_MAX = 64;

/** Limits the replays of a user in any window of time, in all processes. It stores the times of the last replays. */
@Injectable()
export class ReplayBudget {
  constructor(
    private readonly keyValue: KeyValue,
    private readonly clock: Clock,
    private readonly options: UserEventsOptions,
  ) {}

  /**
   * Takes one replay from the budget. If it is used up, returns the seconds until the next replay is allowed.
   * @throws KeyValueUnavailable
   */
  async spend(userId: string): Promise<number | undefined> {
    const { replayRequestsPerWindowMax: max, replayWindowMs: windowMs } = this.options.settings;
    if (max === 0) return undefined;
    const key = `event-replays.${userKey(userId)}`;
    for (let race = 0; race < RACES_MAX; race++) {
      const now = this.clock.now().getTime();
      const entry = await this.keyValue.get(key);
      const times = ((entry ? JSON.parse(entry.value) : []) as number[]).filter((at) => at > now - windowMs && at <= now);
      if (times.length >= max) return Math.max(1, Math.ceil((times[times.length - max]! + windowMs - now) / 1000));
      const value = JSON.stringify([...times, now]);
      const noted = entry
        ? this.keyValue.update(key, value, entry.revision, { ttlMs: windowMs })
        : this.keyValue.create(key, value, { ttlMs: windowMs });
      if (await noted) return undefined;
    }
    return 1;
  }
}
