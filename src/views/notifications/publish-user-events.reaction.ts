import { Injectable } from '@nestjs/common';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import type { Notice } from '../../kernel/event-sourcing/notifications.js';
import type { Reaction, ReactionHandlers } from '../../kernel/event-sourcing/reaction.js';
import { NotificationRules } from './notification-rules.js';
import { folded, NotifiedStreams } from './notified-streams.js';
import { UserEventsOptions } from './user-events-options.js';
import { TOGETHER_MAX, UserJournal } from './user-journal.js';

/**
 * Notifies users' open tabs of changes, by the rules of all modules. Steps: fold the event's stream up to the event; check
 * whether the user's stream has the notification; append it there; signal the readers; repeat this for the event's other
 * notifications. After a crash the reaction repeats, and notifications that are appended already are skipped. Only a signal can
 * be lost, and readers also poll.
 */
@Injectable()
export class PublishUserEvents implements Reaction {
  readonly name = 'publish-user-events';
  // Concurrent notifications of one user are appended together.
  readonly concurrency = TOGETHER_MAX;
  readonly categories: readonly string[];
  readonly codec: Codec;
  readonly on: ReactionHandlers<Event>;

  constructor(
    private readonly store: EventStore,
    private readonly journal: UserJournal,
    { settings }: UserEventsOptions,
    { all }: NotificationRules,
  ) {
    this.categories = [...new Set(all.map(({ category }) => category))];
    this.codec = Object.assign({}, ...all.map(({ codec }) => codec)) as Codec;
    const followed = all.map((rule) => new NotifiedStreams(store, rule));
    const about = (type: string) => followed.filter(({ rule }) => rule.about.includes(type));
    // If publishing is disabled, the reaction still follows the log, so that events of that time are not published later.
    const types = settings.pushEnabled ? all.flatMap((rule) => rule.about) : [];
    this.on = Object.fromEntries(types.map((type) => [type, (event) => this.notify(event, about(type))]));
  }

  private async notify(event: Recorded, rules: readonly NotifiedStreams[]): Promise<void> {
    for (const streams of rules) {
      const { rule } = streams;
      const { before, after } = await streams.around(event);
      const users = [rule.ownerOf(after, event) ?? []].flat();
      if (users.length === 0) continue;
      const notices = rule.noticesOf(event, before, after);
      for (const userId of users)
        for (const notice of notices) await this.journal.notify(userId, event, () => this.notificationOf(notice), notice.name);
    }
  }

  private async notificationOf(notice: Notice) {
    if ('notification' in notice) return notice.notification;
    return notice.subject.notification(await folded(this.store, notice.subject.stream, notice.subject));
  }
}
