/** Whether a run may start. If not, `error` is the text that the run shows. */
export type QuotaAnswer = Readonly<{ allowed: true } | { allowed: false; error: string }>;

/** Checks an owner's quota before a model is used on the owner's behalf. */
export abstract class RunQuota {
  abstract check(ownerId: string): Promise<QuotaAnswer>;
}
