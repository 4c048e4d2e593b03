/** Whether a run may begin; where it may not, `error` is the text for whoever looks at the run. */
export type QuotaAnswer = Readonly<{ allowed: true } | { allowed: false; error: string }>;

/** What a run that nobody watches asks before it begins: whether its owner's quota has room for it. */
export abstract class RunQuota {
  abstract check(ownerId: string): Promise<QuotaAnswer>;
}
