import { expect } from '@jest/globals';
import type { Decider, Decision } from '../../src/kernel/event-sourcing/decider.js';
import type { Event } from '../../src/kernel/event-sourcing/events.js';

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
