import { categoryOf, type LogFilter } from '../../../kernel/event-sourcing/event-store.js';
import { WakeFlag } from '../wake-flag.js';
import { FRAMES, isWanted } from '../wanted.js';

/** Followers with their progress. */
export type StreamFollower = { readonly wakeFlag: WakeFlag; readonly stream: string; revision: number };
export type LogFollower = { readonly wakeFlag: WakeFlag; readonly wantsFrames: boolean; position: bigint };

/** The waiting followers. Ringing is cheap, may be spurious, and only makes a follower read. */
export class WakeUps {
  private readonly streams = new Map<string, Set<StreamFollower>>();
  private readonly log = new Set<LogFollower>();

  joinStream(stream: string, revision: number): StreamFollower {
    const follower = { wakeFlag: new WakeFlag(), stream, revision };
    const others = this.streams.get(stream);
    if (others) others.add(follower);
    else this.streams.set(stream, new Set([follower]));
    return follower;
  }

  joinLog(position: bigint, filter: LogFilter): LogFollower {
    const follower = { wakeFlag: new WakeFlag(), wantsFrames: isWanted(filter, FRAMES), position };
    this.log.add(follower);
    return follower;
  }

  leaveStream(follower: StreamFollower): void {
    const followers = this.streams.get(follower.stream);
    followers?.delete(follower);
    if (followers?.size === 0) this.streams.delete(follower.stream);
  }

  leaveLog(follower: LogFollower): void {
    this.log.delete(follower);
  }

  /**
   * Wakes the followers of these streams and of the log. Frames are frequent and wake only followers of the log that want them.
   */
  ring(streams: Iterable<string>): void {
    let onlyFrames = true;
    for (const stream of streams) {
      onlyFrames &&= categoryOf(stream) === FRAMES;
      for (const { wakeFlag } of this.streams.get(stream) ?? []) wakeFlag.ring();
    }
    for (const { wakeFlag, wantsFrames } of this.log) if (wantsFrames || !onlyFrames) wakeFlag.ring();
  }

  ringAll(): void {
    for (const followers of [...this.streams.values(), this.log]) for (const { wakeFlag } of followers) wakeFlag.ring();
  }

  get followedStreams(): string[] {
    return [...this.streams.keys()];
  }

  get size(): number {
    return this.streams.size + this.log.size;
  }

  /** Wakes the followers that are behind the given revision of a stream. */
  compareStream(stream: string, revision: number): void {
    for (const follower of this.streams.get(stream) ?? []) if (follower.revision < revision) follower.wakeFlag.ring();
  }

  compareLog(head: bigint): void {
    for (const follower of this.log) if (follower.position < head) follower.wakeFlag.ring();
  }
}
