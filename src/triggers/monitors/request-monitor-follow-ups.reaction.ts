import { Injectable } from '@nestjs/common';
import { type Codec, decode } from '../../kernel/event-sourcing/codec.js';
import { EventStore, firstEvent } from '../../kernel/event-sourcing/event-store.js';
import { type Cause, causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { type FollowUpSource, FollowUps } from '../../background/follow-ups/follow-ups.port.js';
import { monitorCodec } from './monitor/monitor.codec.js';
import {
  type MonitorCompleted,
  type MonitorEvent,
  type MonitorPaused,
  monitorStream,
  type MonitorDefinition,
  type MonitorFollowUpRequested,
} from './monitor/monitor.events.js';
import { expiredText, pausedText } from './monitor/monitor-words.policy.js';

type Reported = MonitorFollowUpRequested | MonitorPaused | MonitorCompleted;

/**
 * Requests a follow-up of a monitor's conversation when the monitor has matched, has paused itself, or has expired without a
 * follow-up before. One step; the follow-up's key makes repetitions after a crash harmless.
 */
@Injectable()
export class RequestMonitorFollowUps implements Reaction<Reported> {
  readonly name = 'request-monitor-follow-ups';
  readonly categories = ['monitor'];
  readonly codec: Codec<Reported> = monitorCodec;
  readonly on = {
    MonitorFollowUpRequested: (event: Recorded<MonitorFollowUpRequested>) => this.matched(event),
    MonitorPaused: (event: Recorded<MonitorPaused>) => this.paused(event),
    MonitorCompleted: (event: Recorded<MonitorCompleted>) => this.expired(event),
  };

  constructor(
    private readonly store: EventStore,
    private readonly followUps: FollowUps,
  ) {}

  private matched(event: Recorded<MonitorFollowUpRequested>): Promise<void> {
    const { followUp, text } = event.data;
    return this.request(event, 'monitor', String(followUp), text);
  }

  private async paused(event: Recorded<MonitorPaused>): Promise<void> {
    const { pause, reason } = event.data;
    if (reason === null) return;
    await this.request(event, 'monitor_paused', String(pause), pausedText(await this.definitionOf(event), reason));
  }

  private async expired(event: Recorded<MonitorCompleted>): Promise<void> {
    if (!event.data.isNews) return;
    await this.request(event, 'monitor_expired', 'end', expiredText(await this.definitionOf(event)));
  }

  private async request(event: Recorded<Reported>, source: FollowUpSource, which: string, text: string): Promise<void> {
    const { monitorId: refId, ownerId, conversationId } = event.data;
    const cause: Cause = causedBy(event, `system:${this.name}`);
    const dedupeKey = `${source}:${refId}:${which}`;
    await this.followUps.request({ conversationId, ownerId, source, refId, dedupeKey, text }, cause);
  }

  private async definitionOf({ data: { monitorId } }: Recorded<Reported>): Promise<MonitorDefinition> {
    const first = await firstEvent(this.store, monitorStream(monitorId));
    const created = first && decode<MonitorEvent>(monitorCodec, first);
    if (created?.type !== 'MonitorCreated') throw new Error(`Monitor ${monitorId} does not begin with its creation.`);
    return created.data.definition;
  }
}
