import { Injectable } from '@nestjs/common';
import { FollowUpQueries } from '../../../projections/follow-ups/follow-ups.queries.js';
import { AutomaticTurns } from '../../dialogue/answering/intake/automatic-turns.port.js';
import { Commands } from '../../kernel/commands.js';
import { eachOf } from '../../kernel/each-of.js';
import { decode } from '../../kernel/event-sourcing/codec.js';
import { eventsBackwards } from '../../kernel/event-sourcing/event-store.js';
import { type Cause, causedBy } from '../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../kernel/event-sourcing/streams.js';
import type { Ticker } from '../../kernel/event-sourcing/ticker.js';
import { Failures } from '../../kernel/failures.js';
import { deterministicId } from '../../kernel/ids.js';
import { Sightings } from '../../kernel/sightings.js';
import { Timing } from '../../kernel/timing.js';
import { questionOf } from './follow-up-text.policy.js';
import { followUpsCodec } from './follow-ups.codec.js';
import { GatherFollowUps, CompleteFollowUps } from './follow-ups.commands.js';
import { followUps, type FollowUpsOfConversation, toGather } from './follow-ups.decider.js';
import { type FollowUpId, type FollowUpsEvent, followUpsStream } from './follow-ups.events.js';

const DELIVER_EVERY_MS = 500;
/** Follow-ups of a conversation that is free wait this long for others, so that one turn reports all of them. */
export const FOLLOW_UP_BATCH_MS = 2_000;
/** Maximum number of conversations that wait for that at once, without those that failed. The others follow when these are continued. */
export const WAITING_CONVERSATIONS_MAX = 1_000;
/** Maximum number of conversations that one tick continues. The others follow in the next tick. */
export const CONVERSATIONS_PER_TICK_MAX = 100;
const CONVERSATIONS_AT_ONCE_MAX = 8;

/**
 * Asks automatic turns that report the waiting follow-ups of conversations. Steps for each conversation: (1) gather the waiting
 * follow-ups for one turn, whose id is derived from them; (2) ask the turn; (3) record the outcome of the follow-ups. After a
 * crash following (1) or (2) the follow-ups stay gathered, and the next tick of any process asks the same turn, which is
 * idempotent. If two processes run at once, the second finds the follow-ups already gathered. A conversation that is busy is
 * tried again in the next tick. The events continue the causal chain of the oldest follow-up, so that the trace of a request
 * also shows the turns that its jobs have caused.
 */
@Injectable()
export class DeliverFollowUps implements Ticker {
  readonly name = 'deliver-follow-ups';
  readonly everyMs = DELIVER_EVERY_MS;
  /** The follow-ups of the conversations that were busy in the last tick, so that the next one reads only later events. */
  private busy: ReadonlyMap<string, Folded<FollowUpsOfConversation>> = new Map();
  private readonly waiting: Sightings;
  /** The waiting conversations that could not be continued. */
  private readonly failures = new Failures();

  constructor(
    private readonly queries: FollowUpQueries,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly turns: AutomaticTurns,
    timing: Timing,
  ) {
    this.waiting = new Sightings(timing);
  }

  async tick(): Promise<void> {
    const waiting = await this.queries.waiting(this.failures.pageFor(WAITING_CONVERSATIONS_MAX));
    this.waiting.look(waiting);
    this.failures.retain(waiting);
    const isDue = (id: string) => this.waiting.ageMs(id) >= FOLLOW_UP_BATCH_MS;
    const due = this.failures.next(waiting.filter(isDue), (id) => id, CONVERSATIONS_PER_TICK_MAX);
    const busy = new Map<string, Folded<FollowUpsOfConversation>>();
    const deliver = async (conversationId: string) => {
      try {
        const waiting = await this.deliver(conversationId, this.busy.get(conversationId));
        if (waiting) busy.set(conversationId, waiting);
      } catch (error) {
        this.failures.add(conversationId);
        // It is not tried again in each tick.
        this.waiting.restart(conversationId);
        throw error;
      }
    };
    await eachOf(due, deliver, CONVERSATIONS_AT_ONCE_MAX).finally(() => (this.busy = busy));
  }

  /** Returns the follow-ups if the conversation is busy. `before` is an earlier fold of them. */
  private async deliver(
    conversationId: string,
    before: Folded<FollowUpsOfConversation> | undefined,
  ): Promise<Folded<FollowUpsOfConversation> | undefined> {
    const read = await this.streams.fold(followUpsStream(conversationId), followUps, before);
    const followUpIds = toGather(read.state);
    const [oldest] = followUpIds;
    if (oldest === undefined) return undefined;
    const cause = await this.causeOf(conversationId, oldest);
    const next = { conversationId, turnId: deterministicId('automatic-turn', conversationId, ...followUpIds), followUpIds };
    const known = await this.commands.execute(new GatherFollowUps(next, read, cause));
    const { gathered, pending } = known.state;
    const batch = gathered?.followUpIds.flatMap((id) => pending.get(id) ?? []) ?? [];
    const [lead] = batch;
    if (!gathered || !lead) return undefined;
    const { ownerId, source, refId, dedupeKey } = lead;
    const origin = { kind: 'follow-up', source, refId, dedupeKey } as const;
    const question = questionOf(batch.map(({ text }) => text));
    const automatic = await this.turns.ask({ conversationId, ownerId, turnId: gathered.turnId, question, origin }, cause);
    if (automatic.status === 'busy') return known;
    await this.commands.execute(new CompleteFollowUps(gathered, automatic, known, cause));
    return undefined;
  }

  private async causeOf(conversationId: string, followUpId: FollowUpId): Promise<Cause> {
    for await (const stored of eventsBackwards(this.streams.store, followUpsStream(conversationId))) {
      const event = decode<FollowUpsEvent>(followUpsCodec, stored);
      if (event?.type === 'FollowUpRequested' && event.data.followUpId === followUpId)
        return causedBy(event, `system:${this.name}`);
    }
    throw new Error(`Follow-up ${followUpId} of ${conversationId} was not requested.`);
  }
}
