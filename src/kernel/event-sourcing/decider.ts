import type { Event } from './events.js';

/** Folds events into a state. `evolve` accepts every event, because it has happened. */
export type Decider<State, E extends Event> = Readonly<{ initial: State; evolve: (state: State, event: E) => State }>;

/** Derives new events from a state. An empty list means that nothing has to change. @throws Rejection to refuse the command */
export type Decision<State, E extends Event> = (state: State) => readonly E[];
