import { type OldWakesOfConversation, type WakeQueries } from '../../../projections/wakes/wakes.queries.js';
import type { Clock } from '../../kernel/clock.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { eachOf } from '../../kernel/each-of.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Cause, Recorded } from '../../kernel/event-sourcing/events.js';
import type { Streams } from '../../kernel/event-sourcing/streams.js';
import type { RetentionRule } from '../../work/retention/retention-rule.port.js';
import { expiredWakes, expireWakes } from './expired-wakes.decider.js';
import { expiredWakesStream } from './expired-wakes.events.js';
import { oldWakes } from './old-wakes.policy.js';
import { wakesCodec } from './wakes.codec.js';
import { type WakesEvent, wakesStream } from './wakes.events.js';

/** What had conversations go on by themselves: what a conversation made of it stays there. */
export class ForgetWakes implements RetentionRule<OldWakesOfConversation> {
  readonly name = 'wakes';

  constructor(
    private readonly wakes: WakeQueries,
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly retentionMs: number,
  ) {}

  due(now: Date, limit: number, after?: OldWakesOfConversation): Promise<readonly OldWakesOfConversation[]> {
    return this.wakes.settledBefore(this.keptSince(now), limit, after);
  }

  forget(due: readonly OldWakesOfConversation[], cause: Cause): Promise<void> {
    const now = this.clock.now();
    return eachOf(due, async ({ id }) => {
      const old = oldWakes(await this.eventsOf(id), this.keptSince(now));
      await this.streams.transact(expiredWakesStream(id), expiredWakes, expireWakes(id, old, now), cause);
    });
  }

  private async eventsOf(conversationId: string): Promise<readonly Recorded<WakesEvent>[]> {
    const events: Recorded<WakesEvent>[] = [];
    for await (const page of this.store.read(wakesStream(conversationId))) {
      events.push(...page.flatMap((stored) => decode<WakesEvent>(wakesCodec, stored) ?? []));
    }
    return events;
  }

  private keptSince(now: Date): Date {
    return new Date(now.getTime() - this.retentionMs);
  }
}
