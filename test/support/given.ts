import { expect } from '@jest/globals';
import type { Decider, Decision } from '../../src/kernel/event-sourcing/decider.js';
import type { Event } from '../../src/kernel/event-sourcing/events.js';
import { Rejection } from '../../src/kernel/rejection.js';

/** `given(aggregate, past).when(decision)`, then `.then(events)`, `.thenNothing()` or `.thenRejected(code)`. */
export function given<State, E extends Event>(decider: Decider<State, E>, past: readonly NoInfer<E>[]) {
  const state = past.reduce<State>(decider.evolve, decider.initial);
  return {
    when: (decide: Decision<State, E>) => ({
      then: (events: readonly E[]) => expect(decide(state)).toEqual(events),
      thenNothing: () => expect(decide(state)).toEqual([]),
      thenRejected: (code: string) => expect(() => decide(state)).toThrow(expect.objectContaining({ code })),
    }),
  };
}

/** The events of a decision; undefined if it is rejected. @throws any other error, which no test may take for a rejection */
export function eventsUnlessRejected<State, E extends Event>(decide: Decision<State, E>, state: State): readonly E[] | undefined {
  try {
    return decide(state);
  } catch (error) {
    if (error instanceof Rejection) return undefined;
    throw error;
  }
}
