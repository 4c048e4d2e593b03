export type LimitedAgent = Readonly<{ id: string; tokenLimit: number | null; requestLimit: number | null }>;

/** A request for a new or resumed turn, or for a headless run. */
export type Admission = Readonly<{
  /** The id of the turn or the run. */
  turnId: string;
  /** The stream that will hold its end. */
  stream: string;
  /** The user who is charged. */
  ownerId: string;
  /** The agent. Its limits apply to keys, sessions, webhooks and schedules together. */
  agent: LimitedAgent | undefined;
  /** The link of the reader. Each link has its own quota. */
  linkId?: string | undefined;
  /** False for a resumed turn, which was counted when it was asked. */
  isNewRequest: boolean;
}>;

/** Checks the limits of the agent and the owner's quota before a turn. */
export abstract class UsageLimits {
  /**
   * Admits a request and counts it. All usage up to the log position `upTo` is included. @throws Rejection usage-limit,
   * quota-exceeded
   */
  abstract admit(admission: Admission, upTo?: bigint): Promise<void>;
  /** Withdraws this admission. A faster one for the same turn stays. */
  abstract withdraw(admission: Admission): void;
  /** Reports that the caller has seen the end of the run. Its usage counts for the next question. */
  abstract endSeen(turnId: string): void;
}
