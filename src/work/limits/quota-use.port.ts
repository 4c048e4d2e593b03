import type { Period, QuotaPeriod, UsedOfOwner } from './limits.policy.js';

/** The quotas of users and their usage. */
export abstract class QuotaUse {
  abstract readonly period: QuotaPeriod;
  /** Undefined for no limit. */
  abstract readonly tokensPerUser: number | undefined;
  /** The usage in the current period. */
  abstract used(ownerId: string): Promise<UsedOfOwner & Readonly<{ period: Period }>>;
}
