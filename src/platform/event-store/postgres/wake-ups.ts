import type { LogFilter } from '../../../kernel/event-sourcing/event-store.js';
import { WakeFlag } from '../wake-flag.js';
import { FRAMES, isWanted } from '../wanted.js';

/** A follower of the log with its progress. */
export type Follower = { readonly wakeFlag: WakeFlag; readonly wantsFrames: boolean; position: bigint };

/** The followers of the log. Ringing is cheap, may be spurious, and only makes a follower read. */
export class WakeUps {
  private readonly followers = new Set<Follower>();

  join(position: bigint, filter: LogFilter): Follower {
    const follower = { wakeFlag: new WakeFlag(), wantsFrames: isWanted(filter, FRAMES), position };
    this.followers.add(follower);
    return follower;
  }

  leave(follower: Follower): void {
    this.followers.delete(follower);
  }

  ringAll(): void {
    for (const { wakeFlag } of this.followers) wakeFlag.ring();
  }

  /** Wakes the followers that want frames. Frames are frequent, and the others need not read after them. */
  ringForFrames(): void {
    for (const { wakeFlag, wantsFrames } of this.followers) if (wantsFrames) wakeFlag.ring();
  }

  /** Wakes the followers that are behind the end of the log. */
  compare(head: bigint): void {
    for (const { wakeFlag, position } of this.followers) if (position < head) wakeFlag.ring();
  }

  get size(): number {
    return this.followers.size;
  }
}
