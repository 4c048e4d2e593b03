/** Whether a dependency of the service answers, and after how many milliseconds. */
export type DependencyCondition = Readonly<{ ok: boolean; ms: number; error?: string }>;

/** The progress of a projection or reaction. `behind` is a difference of log positions, not a number of events. */
export type FollowerCondition = Readonly<{
  /** False if another version wrote its rows, or if it failed before its first checkpoint. Its rows cannot be used then. */
  ok: boolean;
  position: string | null;
  behind: string | null;
  /** For how long the oldest event that it has not handled has been in the log: 0 if there is none, null if it is not known. */
  secondsBehind: number | null;
  /** `parked` counts the entities of a projection, or the events of a reaction, that failed; `held` the events that wait for them. */
  parked: number;
  held: number;
  error?: string;
}>;

/**
 * `ready`: the process works. `degraded`: it answers requests, but a part that they need makes no progress. `not_ready`: it
 * cannot answer requests and should get none.
 */
export type Readiness = 'ready' | 'degraded' | 'not_ready';

/** A state of readiness below `ready`, with the reason as a sentence for operators. */
export type Impairment = Readonly<{ readiness: Exclude<Readiness, 'ready'>; reason: string }>;

export const notReady = (reason: string): Impairment => ({ readiness: 'not_ready', reason });
export const degraded = (reason: string): Impairment => ({ readiness: 'degraded', reason });

/** Finds an impairment that is not one of a dependency, projection or reaction. */
export type ReadinessCheck = () => Promise<Impairment | undefined>;

export type ConditionReport = Readonly<{
  readiness: Readiness;
  /** Empty when ready. The reasons for `not_ready` come first. */
  reasons: readonly string[];
  dependencies: Readonly<Record<string, DependencyCondition>>;
  projections: Readonly<Record<string, FollowerCondition>>;
  reactions: Readonly<Record<string, FollowerCondition>>;
  /** The age of the oldest snapshot that keeps Postgres from removing old rows, in seconds; null if it is not known. */
  snapshotSeconds: number | null;
}>;

/** The condition of the service. Each report is measured anew, takes a bounded time, and never fails. */
export abstract class Conditions {
  abstract report(): Promise<ConditionReport>;
}

/** The metrics of this process, in the text format of Prometheus. */
export abstract class Measurements {
  abstract text(): Promise<Readonly<{ contentType: string; body: string }>>;
}
