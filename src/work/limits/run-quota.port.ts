/** Whether a run may begin; where it may not, `error` is the text for whoever looks at the run. */
export type QuotaAnswer = Readonly<{ allowed: true } | { allowed: false; error: string }>;

/** What a run that nobody watches asks before it begins: whether its owner's quota has room for it. */
export abstract class RunQuota {
  /** What was used up to a position of the log counts, however young it is. */
  abstract check(ownerId: string, upTo?: bigint): Promise<QuotaAnswer>;
}
