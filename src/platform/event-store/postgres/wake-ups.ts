import { categoryOf, type LogFilter } from '../../../kernel/event-sourcing/event-store.js';
import { WakeFlag } from '../wake-flag.js';
import { FRAMES, isWanted } from '../wanted.js';

/** A follower and how far it has come. */
export type StreamFollower = { readonly wakeFlag: WakeFlag; readonly stream: string; revision: number };
export type LogFollower = { readonly wakeFlag: WakeFlag; readonly wantsFrames: boolean; position: bigint };

/** Who waits for what. Ringing is cheap, may happen for nothing, and says only: look. */
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

  /** These streams, and hence the log, have something new. Frames come all the time: who does not want them is not woken for them. */
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

  /** Rings for those that the present state of a stream, or of the log, is ahead of. */
  compareStream(stream: string, revision: number): void {
    for (const follower of this.streams.get(stream) ?? []) if (follower.revision < revision) follower.wakeFlag.ring();
  }

  compareLog(head: bigint): void {
    for (const follower of this.log) if (follower.position < head) follower.wakeFlag.ring();
  }
}
