/** An agent, as far as it is limited. */
export type LimitedAgent = Readonly<{ id: string; tokenLimit: number | null; requestLimit: number | null }>;

/** A turn that is asked for or resumed, or a headless run. */
export type Admission = Readonly<{
  /** The turn or the run. */
  turnId: string;
  /** Where its end is stated. */
  stream: string;
  /** Who is charged for it. */
  ownerId: string;
  /** Its limits hold for every way in: keys, sessions, webhooks, schedules. */
  agent: LimitedAgent | undefined;
  /** The link whose reader asks: each has a quota of its own. */
  linkId?: string | undefined;
  /** A turn that goes on after a pause was counted as a request when it was asked. */
  isNewRequest: boolean;
}>;

/** What stands between a request, by whatever way it came, and a turn: the limits of its agent, and its owner's quota. */
export abstract class UsageLimits {
  /** Lets it pass, and counts it from now on. What was used up to a position of the log counts. @throws Rejection usage-limit, quota-exceeded */
  abstract admit(admission: Admission, upTo?: bigint): Promise<void>;
  /** Nothing came of this very admission; another of the same turn, which was faster, stays. */
  abstract withdraw(admission: Admission): void;
  /** The caller was told the end of the run: what it used counts for the next question. */
  abstract told(turnId: string): void;
}
