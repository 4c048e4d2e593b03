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

/** Number of turns, newest first, whose end an owner has seen since the last check and that are read from the log. */
const SEEN_TURNS_READ_MAX = 64;

/** The usage limit of the readers of a link in 24 hours. It applies to each link separately. */
export class LinkQuota {
  constructor(
    readonly requestLimit: number,
    readonly tokenLimit: number,
  ) {}
}

/** A subject with a limit of requests or tokens. Null means no limit. */
type Limited = Readonly<{ id: string; counted: Counted; requestLimit: number | null; tokenLimit: number | null }>;

/**
 * Checks limits by the usage read model and the reservations of requests. Before a decision, it waits until the read model has
 * the turns whose end the owner has seen through this process. A request takes a reservation that all processes see, and counts
 * the earlier ones that the read model does not have yet, so the number of requests does not exceed a limit, in any number
 * of processes. One exception: if the store does not answer an append, its caller gets an error, and a question that was stored
 * all the same counts only once the read model has it. Tokens are counted when they are known, so turns that run when a limit is
 * reached are still answered. Subjects without limits cause no work here.
 */
@Injectable()
export class StoredUsageLimits extends UsageLimits {
  private readonly underWay = new TurnsUnderWay();
  /** The subjects for which an admission took a reservation. Another process may have taken that of the same turn. */
  private readonly reserved = new WeakMap<Admission, string[]>();

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
      // The reservations are taken first, so that concurrent requests count them.
      for (const each of limited) if (countsRequests(each, admission)) await this.reserve(each.id, admission);
      await this.catchUp(ownerId, upTo);
      for (const each of limited) await this.refuseBeyond(each, admission);
      await this.quota.refuse(ownerId);
    } catch (error) {
      this.withdraw(admission);
      throw error;
    }
  }

  withdraw(admission: Admission): void {
    this.underWay.leave(admission);
    // While the store is unavailable, the reservation expires by itself.
    for (const id of this.reserved.get(admission) ?? []) void this.places.release(id, [admission.turnId]).catch(() => undefined);
    this.reserved.delete(admission);
  }

  endSeen(turnId: string): void {
    this.underWay.endSeen(turnId);
  }

  private async reserve(id: string, admission: Admission): Promise<void> {
    if (!(await this.places.take(id, admission.turnId))) return;
    this.reserved.set(admission, [...(this.reserved.get(admission) ?? []), id]);
  }

  /** Waits until the tokens of the answers that the owner has read are counted. */
  private async catchUp(ownerId: string, upTo?: bigint): Promise<void> {
    const seen = this.underWay.admittedFor(ownerId);
    const newestNoted = seen.slice(-SEEN_TURNS_READ_MAX);
    const last = await Promise.all(newestNoted.map(({ stream }) => lastEvent(this.store, stream)));
    const positions = [...(upTo === undefined ? [] : [upTo]), ...last.flatMap((event) => event?.position ?? [])];
    const newest = positions.reduce<bigint | undefined>((max, each) => (max !== undefined && max > each ? max : each), undefined);
    await this.freshness.reached([USAGE], newest);
    this.underWay.forget(seen);
  }

  /** The limited subjects of an admission: its agent, and the link of its reader. */
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
    // Read before the read model, which has every request whose reservation is released after this.
    const places = isCounted ? await this.places.taken(id) : [];
    const { requests, tokens, known } = await this.usage.used(counted, windowStart(now), places);
    void this.places.release(id, known).catch(() => undefined);
    const unknown = without(countedBefore(admission.turnId, places), known).length;
    const waits: number[] = [];
    if (isCounted && requests + unknown >= requestLimit!)
      waits.push(await this.secondsUntilBelow(counted, 'requests', requestLimit! - unknown, now));
    if (tokenLimit !== null && tokens >= tokenLimit) waits.push(await this.secondsUntilBelow(counted, 'tokens', tokenLimit, now));
    if (waits.length > 0) throw limitExceeded(Math.max(...waits));
  }

  /** The seconds until the usage in the window is below an amount. */
  private async secondsUntilBelow(counted: Counted, unit: Unit, amount: number, now: Date): Promise<number> {
    // If running turns alone reach the limit, they count for the whole window.
    const reachedAt = amount > 0 ? await this.usage.reachedAt(counted, unit, amount, windowStart(now)) : now;
    return secondsUntil(new Date((reachedAt ?? now).getTime() + WINDOW_MS), now);
  }
}

/** Whether an admission counts as a request. A resumed turn was counted when it was asked. */
const countsRequests = ({ requestLimit }: Limited, { isNewRequest }: Admission): boolean => isNewRequest && requestLimit !== null;

/** The reservations before that of the turn; all, if the turn has lost its own. */
const countedBefore = (turnId: string, places: readonly string[]): readonly string[] =>
  places.includes(turnId) ? places.slice(0, places.indexOf(turnId)) : places;

const without = (all: readonly string[], some: readonly string[]): readonly string[] => {
  const left = new Set(some);
  return all.filter((each) => !left.has(each));
};

const windowStart = (now: Date): Date => new Date(now.getTime() - WINDOW_MS);
