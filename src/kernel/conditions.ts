/** Whether something the service rests on answers, and how fast. */
export type DependencyCondition = Readonly<{ ok: boolean; ms: number; error?: string }>;

/** How a projection or reaction keeps up with the log. Positions are opaque: `behind` says how much, not how many events. */
export type FollowerCondition = Readonly<{
  /** Whether what it wrote can be used: not where another version wrote it, nor where it failed before it got anywhere. */
  ok: boolean;
  position: string | null;
  behind: string | null;
  secondsBehind: number | null;
  /** Entities (of a projection) or events (of a reaction) that were set aside, and how many events wait with them. */
  parked: number;
  held: number;
  error?: string;
}>;

/**
 * `ready`: the process can do its work. `degraded`: it answers, but something that its work needs does not get on. `not_ready`: it
 * cannot do its work, so it should get no requests.
 */
export type Readiness = 'ready' | 'degraded' | 'not_ready';

/** Something that keeps the process from being ready, and why: a sentence for its operators. */
export type Impairment = Readonly<{ readiness: Exclude<Readiness, 'ready'>; reason: string }>;

export const notReady = (reason: string): Impairment => ({ readiness: 'not_ready', reason });
export const degraded = (reason: string): Impairment => ({ readiness: 'degraded', reason });

/** Looks for an impairment besides those of dependencies and followers. */
export type ReadinessCheck = () => Promise<Impairment | undefined>;

export type ConditionReport = Readonly<{
  readiness: Readiness;
  /** Empty when ready; what makes it unready comes first. */
  reasons: readonly string[];
  dependencies: Readonly<Record<string, DependencyCondition>>;
  projections: Readonly<Record<string, FollowerCondition>>;
  reactions: Readonly<Record<string, FollowerCondition>>;
}>;

/** How the service is: asked anew every time, bounded in time, and never failing itself. */
export abstract class Conditions {
  abstract report(): Promise<ConditionReport>;
}

/** The measurements of this process, in the text format that Prometheus reads. */
export abstract class Measurements {
  abstract text(): Promise<Readonly<{ contentType: string; body: string }>>;
}
