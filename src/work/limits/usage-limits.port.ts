/** An agent whose key a request carries, as far as it is limited. */
export type LimitedAgent = Readonly<{ id: string; tokenLimit: number | null; requestLimit: number | null }>;

/** A run of a turn that somebody asks for. */
export type Admission = Readonly<{
  turnId: string;
  /** Where the end of the turn is stated. */
  stream: string;
  /** Who is charged for it. */
  ownerId: string;
  /** None when the caller is signed in: an agent's limits are for the bearers of its keys. */
  agent: LimitedAgent | undefined;
  /** A turn that goes on after a pause was counted as a request when it was asked. */
  isNewRequest: boolean;
}>;

/** What stands between a request, by whatever way it came, and a turn: the limits of its agent, and its owner's quota. */
export abstract class UsageLimits {
  /** Lets it pass, and counts it from now on. @throws Rejection usage-limit, quota-exceeded */
  abstract admit(admission: Admission): Promise<void>;
  /** Nothing came of this very admission; another of the same turn, which was faster, stays. */
  abstract withdraw(admission: Admission): void;
  /** The caller was told the end of the run: what it used counts for the next question. */
  abstract told(turnId: string): void;
}
