/** Where a follower of the log stands, as the database tells. */
export type FollowerStatus = Readonly<{
  name: string;
  /** Undefined when it has never run. */
  position: bigint | undefined;
  eventAt: Date | null;
  parked: number;
  held: number;
  /** Why what it has written cannot be used. */
  problem?: string;
}>;
