import { Injectable } from '@nestjs/common';
import { type Codec, decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore, firstEvent } from '../../kernel/event-sourcing/event-store.js';
import { type Cause, causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { type WakeSource, Wakes } from '../../background/follow-ups/wakes.port.js';
import { monitorCodec } from './monitor/monitor.codec.js';
import {
  type MonitorCompleted,
  type MonitorEvent,
  type MonitorPaused,
  monitorStream,
  type MonitorTerms,
  type MonitorWoke,
} from './monitor/monitor.events.js';
import { expiredText, pausedText } from './monitor/monitor-words.policy.js';

type Told = MonitorWoke | MonitorPaused | MonitorCompleted;

/**
 * Has the conversation of a monitor go on: when it has found what it waits for, has paused itself, or has run out of time
 * without a word. One step, which the wake's key makes one wake however often a crash repeats it.
 */
@Injectable()
export class WakeConversationsOfMonitors implements Reaction<Told> {
  readonly name = 'wake-conversations-of-monitors';
  readonly categories = ['monitor'];
  readonly codec: Codec<Told> = monitorCodec;
  readonly on = {
    MonitorWoke: (event: Recorded<MonitorWoke>) => this.matched(event),
    MonitorPaused: (event: Recorded<MonitorPaused>) => this.paused(event),
    MonitorCompleted: (event: Recorded<MonitorCompleted>) => this.expired(event),
  };

  constructor(
    private readonly store: EventStore,
    private readonly wakes: Wakes,
  ) {}

  private matched(event: Recorded<MonitorWoke>): Promise<void> {
    const { wake, text } = event.data;
    return this.wake(event, 'monitor', String(wake), text);
  }

  private async paused(event: Recorded<MonitorPaused>): Promise<void> {
    const { pause, reason } = event.data;
    if (reason === null) return;
    await this.wake(event, 'monitor_paused', String(pause), pausedText(await this.termsOf(event), reason));
  }

  private async expired(event: Recorded<MonitorCompleted>): Promise<void> {
    if (!event.data.isNews) return;
    await this.wake(event, 'monitor_expired', 'end', expiredText(await this.termsOf(event)));
  }

  private wake(event: Recorded<Told>, source: WakeSource, which: string, text: string): Promise<void> {
    const { monitorId: refId, ownerId, conversationId } = event.data;
    const cause: Cause = causedBy(event, `system:${this.name}`);
    const dedupeKey = `${source}:${refId}:${which}`;
    return this.wakes.wake({ conversationId, ownerId, source, refId, dedupeKey, text }, cause);
  }

  private async termsOf({ data: { monitorId } }: Recorded<Told>): Promise<MonitorTerms> {
    const first = await firstEvent(this.store, monitorStream(monitorId));
    const created = first && decode<MonitorEvent>(monitorCodec, first);
    if (created?.type !== 'MonitorCreated') throw new Error(`Monitor ${monitorId} does not begin with its creation.`);
    return created.data.terms;
  }
}
