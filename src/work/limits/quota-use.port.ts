import type { Period, QuotaPeriod, UsedOfOwner } from './limits.policy.js';

/** What users may use, and what they have used of it. */
export abstract class QuotaUse {
  abstract readonly period: QuotaPeriod;
  /** Undefined: as many as they like. */
  abstract readonly tokensPerUser: number | undefined;
  /** In the period that is under way. */
  abstract used(ownerId: string): Promise<UsedOfOwner & Readonly<{ period: Period }>>;
}
