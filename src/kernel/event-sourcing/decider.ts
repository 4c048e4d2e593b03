import type { Event } from './events.js';

/** How a state grows from facts. `evolve` never refuses: an event has happened. */
export type Decider<State, E extends Event> = Readonly<{ initial: State; evolve: (state: State, event: E) => State }>;

/** What happens next, given what has happened. An empty list means: already so. Refuses by throwing a Rejection. */
export type Decision<State, E extends Event> = (state: State) => readonly E[];
