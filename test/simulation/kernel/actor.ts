/**
 * Something that crashes as a whole and may restart: a process, or a part of the world that never crashes. Work of an earlier
 * life is dropped: its promises never settle and no `finally` of it runs, as in a killed process.
 */
export class Actor {
  /** Incremented at every crash. */
  life = 0;

  constructor(readonly name: string) {}
}

/** One life of an actor, from a start to the next crash. */
export type Life = Readonly<{ actor: Actor; life: number }>;

export const lifeOf = (actor: Actor): Life => ({ actor, life: actor.life });
export const isAlive = ({ actor, life }: Life): boolean => actor.life === life;
