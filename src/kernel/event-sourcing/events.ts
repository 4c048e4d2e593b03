/** A domain event as a decision returns it: plain JSON with a type in the past tense, such as `TurnAsked`. */
export type Event<Type extends string = string, Data = unknown> = Readonly<{ type: Type; data: Readonly<Data> }>;

/** The kind of credential of a caller. Reactions and tickers, which act without a caller, have `system`. */
type Credential =
  | 'none'
  | 'session-token'
  | 'access-token'
  | 'agent-key'
  | 'link'
  | 'webhook-token'
  | 'device'
  | 'identity-provider'
  | 'system';

/** Who caused an event, by which credential, and because of which message. Decisions never read it. */
export type Cause = Readonly<{
  /** `user:<id>`, `access-token:<token id>`, `agent-key:<key id>`, `webhook:<agent id>`, `link:<link id>`, `device:<device id>` or `system:<name of the reaction or ticker>`. */
  actor: string;
  credential: Credential;
  /** The id of the request, or of the action of a ticker, at the start of the causal chain. */
  correlationId: string;
  /** The id of the request or event that directly caused this event. */
  causationId: string;
}>;

/** The actor of a reaction, a ticker or a runner, by its name. */
export type SystemActor = `system:${string}`;

/** A domain event as it is read from the log. */
export type Recorded<E extends Event = Event> = E &
  Readonly<{ id: string; stream: string; revision: number; position: bigint; at: Date; cause: Cause }>;

/** The cause of a reaction's events: the same causal chain, with the triggering event as direct cause. */
export const causedBy = (event: Pick<Recorded, 'id' | 'cause'>, actor: SystemActor): Cause => ({
  actor,
  credential: 'system',
  correlationId: event.cause.correlationId,
  causationId: event.id,
});

/** The cause of events that complete what the caller of a request began: the same caller, with the triggering event as direct cause. */
export const onBehalf = (event: Pick<Recorded, 'id' | 'cause'>): Cause => ({ ...event.cause, causationId: event.id });
