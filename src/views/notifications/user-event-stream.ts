import { Injectable } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import type { Departure } from '../../kernel/departure.js';
import type { StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { SseStream } from '../../platform/http/reader-stream.js';
import type { Beginning } from './user-backlog.js';
import { idOf, renderUserEvent, truncatedText, type UserEventId } from './user-event.policy.js';
import { userStream } from './user.events.js';
import { UserEventsOptions } from './user-events-options.js';
import { UserFeed } from './user-feed.js';

/** Sends the missed events to a connection and then the new ones. */
@Injectable()
export class UserEventStream {
  constructor(
    private readonly feed: UserFeed,
    private readonly clock: Clock,
    private readonly options: UserEventsOptions,
  ) {}

  /** Resolves when the reader has disconnected, or has received a full page and must reconnect for the rest. */
  async send(
    userId: string,
    { after, head, truncated }: Beginning,
    sse: SseStream,
    departure: Departure = sse.signal,
  ): Promise<void> {
    const pageMax = this.options.settings.replayEventsPerRequestMax;
    // The connection ends after a full page, because a live event must not overtake the events that are not sent yet.
    let room = head - after > pageMax ? pageMax : Infinity;
    if (truncated && !(await this.sendTruncated(userId, truncated.resumeAt, truncated.oldest, sse))) return;
    let next = after + 1;
    for await (const page of this.feed.tail(userStream(userId), after, departure)) {
      const [first] = page;
      if (first!.revision > next && !(await this.sendOvertaken(userId, first!, sse))) return;
      const sent = page.slice(0, room);
      room -= sent.length;
      next = page.at(-1)!.revision + 1;
      if (!(await sse.write(sent.map((event) => renderUserEvent(idOf(event), event.data)).join('')))) return;
      if (room > 0) continue;
      await sse.comment('page-full');
      return;
    }
  }

  /** Reports to a slow reader that events were trimmed before they were sent to it. */
  private sendOvertaken(userId: string, oldest: StoredEvent, sse: SseStream): Promise<boolean> {
    const id = idOf(oldest);
    return this.sendTruncated(userId, { millis: id.millis, revision: id.revision - 1 }, id, sse);
  }

  private sendTruncated(userId: string, resumeAt: UserEventId, oldest: UserEventId | undefined, sse: SseStream) {
    return sse.write(renderUserEvent(resumeAt, truncatedText(userId, resumeAt, oldest, this.clock.now())));
  }
}
