/** The progress of a projection or reaction, from the database. */
export type FollowerStatus = Readonly<{
  name: string;
  /** Undefined if it has never run. */
  position: bigint | undefined;
  parked: number;
  held: number;
  /** Why its rows cannot be used. */
  problem?: string;
}>;
