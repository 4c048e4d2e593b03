/** Whether a run may begin; where it may not, `error` is the text that the run shows. */
export type QuotaAnswer = Readonly<{ allowed: true } | { allowed: false; error: string }>;

/** Asked before a model is asked on an owner's behalf: whether the owner's quota has room for it. */
export abstract class RunQuota {
  /** What was used up to a position of the log counts, however young it is. */
  abstract check(ownerId: string, upTo?: bigint): Promise<QuotaAnswer>;
}
