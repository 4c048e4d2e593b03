/**
 * Something that dies as a whole and may come back: a process, or a part of the world that never dies. What was under way for an
 * earlier life of it is dropped: its promises never settle and no `finally` of it runs, as in a process that was killed.
 */
export class Actor {
  /** Counted up with every death. */
  life = 0;

  constructor(readonly name: string) {}
}

/** One life of an actor. */
export type Life = Readonly<{ actor: Actor; life: number }>;

export const lifeOf = (actor: Actor): Life => ({ actor, life: actor.life });
export const isAlive = ({ actor, life }: Life): boolean => actor.life === life;
