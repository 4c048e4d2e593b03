/** Whether something the service rests on answers, and how fast. */
export type DependencyCondition = Readonly<{ ok: boolean; ms: number; error?: string }>;

/** How a projection or reaction keeps up with the log. Positions are opaque: `behind` says how much, not how many events. */
export type FollowerCondition = Readonly<{
  ok: boolean;
  position: string | null;
  behind: string | null;
  secondsBehind: number | null;
  /** Entities (of a projection) or events (of a reaction) that were set aside, and how many events wait with them. */
  parked: number;
  held: number;
  error?: string;
}>;

export type ConditionReport = Readonly<{
  ok: boolean;
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
