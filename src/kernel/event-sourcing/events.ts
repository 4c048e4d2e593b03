/** A fact as a decision states it: plain JSON, named by a whole sentence in the past. */
export type Event<Type extends string = string, Data = unknown> = Readonly<{ type: Type; data: Readonly<Data> }>;

/** Through what a caller proved who it is. `system` stands for reactions and tickers acting without a caller. */
type Credential =
  'none' | 'session-token' | 'access-token' | 'agent-key' | 'link' | 'webhook-token' | 'device' | 'identity-provider' | 'system';

/** Who made a fact happen, through what, and because of which message. Decisions never read it. */
export type Cause = Readonly<{
  /** `user:<id>`, `access-token:<token id>`, `agent-key:<key id>`, `link:<link id>`, `device:<device id>` or `system:<name of the reaction or ticker>`. */
  actor: string;
  credential: Credential;
  /** The request (or tick) at the root of the chain. */
  correlationId: string;
  /** The request or event that directly led to this fact. */
  causationId: string;
}>;

/** A fact as the log gives it back. */
export type Recorded<E extends Event = Event> = E &
  Readonly<{ id: string; stream: string; revision: number; position: bigint; at: Date; cause: Cause }>;

/** The cause of what a reaction does about an event: same chain, next link. */
export const causedBy = (event: Pick<Recorded, 'id' | 'cause'>, actor: string): Cause => ({
  actor,
  credential: 'system',
  correlationId: event.cause.correlationId,
  causationId: event.id,
});
