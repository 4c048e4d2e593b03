import { Injectable } from '@nestjs/common';
import { WakeQueries } from '../../../projections/wakes/wakes.queries.js';
import { AutomaticTurns } from '../../dialogue/answering/intake/automatic-turns.port.js';
import { Commands } from '../../kernel/commands.js';
import { eachOf } from '../../kernel/each-of.js';
import { Ids } from '../../kernel/ids.js';
import { deterministicId } from '../../kernel/ids.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { causeOfTick, type Ticker } from '../../kernel/event-sourcing/ticker.js';
import { questionOf } from './wake-text.policy.js';
import { GatherWakes, SettleWakes } from './wakes.commands.js';
import { toGather, wakes } from './wakes.decider.js';
import { wakesStream } from './wakes.events.js';

const DELIVER_EVERY_MS = 500;
/** So long a wake waits for others to be told with. */
export const WAKE_BATCH_MS = 2_000;
/** Conversations that one tick has go on; the others have their turn in the next. */
const WOKEN_PER_TICK_MAX = 100;
const WOKEN_AT_ONCE_MAX = 8;

/**
 * Has conversations go on because of what has happened, once they are free for it. Steps for each: (1) what waits is gathered
 * for one turn, whose id follows from it; (2) the turn is asked; (3) what became of the wakes is stated. A crash after (1) or (2)
 * leaves them gathered: the next tick, here or elsewhere, asks the same turn, which is asked once. Two processes at once gather
 * once, because the second finds it done. A conversation that is not free, or cannot be asked for now, is looked at again.
 */
@Injectable()
export class DeliverWakes implements Ticker {
  readonly name = 'deliver-wakes';
  readonly everyMs = DELIVER_EVERY_MS;

  constructor(
    private readonly queries: WakeQueries,
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly turns: AutomaticTurns,
    private readonly ids: Ids,
  ) {}

  async tick(now: Date): Promise<void> {
    const due = await this.queries.due(new Date(now.getTime() - WAKE_BATCH_MS), WOKEN_PER_TICK_MAX);
    await eachOf(due, (conversationId) => this.deliver(conversationId), WOKEN_AT_ONCE_MAX);
  }

  private async deliver(conversationId: string): Promise<void> {
    const cause = causeOfTick(this, this.ids.next());
    const read = await this.streams.fold(wakesStream(conversationId), wakes);
    const wakeIds = toGather(read.state);
    const next = { conversationId, turnId: deterministicId('woken-turn', conversationId, ...wakeIds), wakeIds };
    const known = await this.commands.execute(new GatherWakes(next, read, cause));
    const { gathered, pending } = known.state;
    const told = gathered?.wakeIds.flatMap((id) => pending.get(id) ?? []) ?? [];
    const [lead] = told;
    if (!gathered || !lead) return;
    const { ownerId, source, refId, dedupeKey } = lead;
    const origin = { kind: 'wake', source, refId, dedupeKey } as const;
    const question = questionOf(told.map(({ text }) => text));
    const woken = await this.turns.ask({ conversationId, ownerId, turnId: gathered.turnId, question, origin }, cause);
    if (woken.standing === 'busy') return;
    await this.commands.execute(new SettleWakes(gathered, woken, known, cause));
  }
}
