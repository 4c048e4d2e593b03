import { Injectable } from '@nestjs/common';
import { type Counted, UsageQueries } from '../../../projections/usage/usage.queries.js';
import { Clock } from '../../kernel/clock.js';
import { EventStore, lastEvent } from '../../kernel/event-sourcing/event-store.js';
import { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { limitExceeded, secondsUntil, type Unit, WINDOW_MS } from './limits.policy.js';
import { OwnerQuota } from './owner-quota.js';
import { RequestPlaces } from './request-places.js';
import { TurnsUnderWay } from './turns-under-way.js';
import { type Admission, UsageLimits } from './usage-limits.port.js';

const USAGE = 'usage';

/** How many of the turns whose end an owner has seen since the last poll are looked up in the log, the newest first. */
const NOTED_TURNS_LOOKED_UP_MAX = 64;

/** How much the readers of one link may use in 24 hours; each link has as much. */
export class LinkQuota {
  constructor(
    readonly requestLimit: number,
    readonly tokenLimit: number,
  ) {}
}

/** What has a limit of requests, of tokens, or of both; null: none. */
type Limited = Readonly<{ id: string; counted: Counted; requestLimit: number | null; tokenLimit: number | null }>;

/**
 * The limits as the usage read model and the places of requests together know them. Before it decides it waits until the read
 * model has what the owner was told through this process. A request takes a place that all processes see, and counts those before
 * it that the read model does not have yet: requests never go over a limit, through however many processes they come. What
 * remains: tokens count once they are known, so that the turns under way when a limit is reached are answered. Whatever is not
 * limited costs nothing here.
 */
@Injectable()
export class StoredUsageLimits extends UsageLimits {
  private readonly underWay = new TurnsUnderWay();

  constructor(
    private readonly usage: UsageQueries,
    private readonly quota: OwnerQuota,
    private readonly store: EventStore,
    private readonly freshness: Freshness,
    private readonly clock: Clock,
    private readonly places: RequestPlaces,
    private readonly linkQuota: LinkQuota,
  ) {
    super();
  }

  async admit(admission: Admission, upTo?: bigint): Promise<void> {
    const { ownerId } = admission;
    const limited = this.limitedBy(admission);
    if (limited.length === 0 && !this.quota.isSet) return;
    this.underWay.enter(admission);
    try {
      // It takes its places first, so that concurrent requests count it.
      for (const each of limited) if (countsRequests(each, admission)) await this.places.take(each.id, admission.turnId);
      await this.knowWhatWasTold(ownerId, upTo);
      for (const each of limited) await this.refuseBeyond(each, admission);
      await this.quota.refuse(ownerId);
    } catch (error) {
      this.withdraw(admission);
      throw error;
    }
  }

  withdraw(admission: Admission): void {
    this.underWay.leave(admission);
    for (const each of this.limitedBy(admission)) {
      // Where the store is away, the place runs out by itself.
      if (countsRequests(each, admission)) void this.places.giveBack(each.id, [admission.turnId]).catch(() => undefined);
    }
  }

  told(turnId: string): void {
    this.underWay.told(turnId);
  }

  /** After a client has read an answer, its tokens are counted. */
  private async knowWhatWasTold(ownerId: string, upTo?: bigint): Promise<void> {
    const told = this.underWay.admittedFor(ownerId);
    const newestNoted = told.slice(-NOTED_TURNS_LOOKED_UP_MAX);
    const last = await Promise.all(newestNoted.map(({ stream }) => lastEvent(this.store, stream)));
    const positions = [...(upTo === undefined ? [] : [upTo]), ...last.flatMap((event) => event?.position ?? [])];
    const newest = positions.reduce<bigint | undefined>((max, each) => (max !== undefined && max > each ? max : each), undefined);
    await this.freshness.reached([USAGE], newest);
    this.underWay.settled(told);
  }

  /** What of it has a limit: its agent, and the link by which its reader came. */
  private limitedBy({ agent, linkId }: Admission): readonly Limited[] {
    const limited: readonly Limited[] = [
      ...(agent ? [{ ...agent, counted: { agentId: agent.id } }] : []),
      ...(linkId === undefined ? [] : [{ ...this.linkQuota, id: linkId, counted: { linkId } }]),
    ];
    return limited.filter(({ tokenLimit, requestLimit }) => tokenLimit !== null || requestLimit !== null);
  }

  private async refuseBeyond(limited: Limited, admission: Admission): Promise<void> {
    const { id, counted, tokenLimit, requestLimit } = limited;
    const now = this.clock.now();
    const isCounted = countsRequests(limited, admission);
    // Before the read model: a place that is given back from here on is one that it has.
    const places = isCounted ? await this.places.taken(id) : [];
    const { requests, tokens, known } = await this.usage.used(counted, windowStart(now), places);
    void this.places.giveBack(id, known).catch(() => undefined);
    const unknown = without(countedBefore(admission.turnId, places), known).length;
    const waits: number[] = [];
    if (isCounted && requests + unknown >= requestLimit!)
      waits.push(await this.secondsUntilBelow(counted, 'requests', requestLimit! - unknown, now));
    if (tokenLimit !== null && tokens >= tokenLimit) waits.push(await this.secondsUntilBelow(counted, 'tokens', tokenLimit, now));
    if (waits.length > 0) throw limitExceeded(Math.max(...waits));
  }

  /** Until so much has left the window that less than an amount remains. */
  private async secondsUntilBelow(counted: Counted, unit: Unit, amount: number, now: Date): Promise<number> {
    // What is under way alone reaches it: that stays for as long as the window is.
    const reachedAt = amount > 0 ? await this.usage.reachedAt(counted, unit, amount, windowStart(now)) : now;
    return secondsUntil(new Date((reachedAt ?? now).getTime() + WINDOW_MS), now);
  }
}

/** What goes on after a pause was counted when it was asked. */
const countsRequests = ({ requestLimit }: Limited, { isNewRequest }: Admission): boolean => isNewRequest && requestLimit !== null;

/** All, where the turn has lost its own place. */
const countedBefore = (turnId: string, places: readonly string[]): readonly string[] =>
  places.includes(turnId) ? places.slice(0, places.indexOf(turnId)) : places;

const without = (all: readonly string[], some: readonly string[]): readonly string[] => {
  const left = new Set(some);
  return all.filter((each) => !left.has(each));
};

const windowStart = (now: Date): Date => new Date(now.getTime() - WINDOW_MS);
