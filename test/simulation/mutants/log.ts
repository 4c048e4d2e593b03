import { REVISION_MAX, type StoredEvent, WrongRevision } from '../../../src/kernel/event-sourcing/event-store.js';
import type { ProcessStore } from '../ports/process-store.js';
import type { Mutant } from '../world/mutant.js';

/** Appends at the current revision what was decided on another one, without a new decision. */
const appendsAllTheSame = (isMeant: (stream: string, types: readonly string[]) => boolean) => (store: ProcessStore) => {
  const append = store.append.bind(store);
  store.append = async (stream, expected, events) => {
    for (let revision = expected; ;) {
      try {
        return await append(stream, revision, events);
      } catch (error) {
        const types = events.map(({ type }) => type);
        if (!(error instanceof WrongRevision) || error.actual === 'unknown' || !isMeant(stream, types)) throw error;
        revision = error.actual;
      }
    }
  };
};

/** Faults in appending to the log and following it. */
export const MUTANTS_OF_THE_LOG: readonly Mutant[] = [
  {
    name: 'decides again before the winner of a race can be read',
    foundAs: /Idempotency-Key gave 2 turns|ran 2 times/,
    store: (store) => {
      store.lastRevision = () => Promise.resolve(REVISION_MAX);
    },
  },
  {
    name: 'gives an append up before the log says what became of one in flight',
    foundAs: /503 while the store was there/,
    inFlightTimeoutMs: [8_500, 9_500],
  },
  {
    name: 'answers an append whose outcome is unknown as if it had been written',
    foundAs: /./,
    store: (store) => {
      const append = store.append.bind(store);
      store.append = (stream, expected, events) =>
        append(stream, expected, events).catch((error: Error) => {
          if (error.name !== 'StoreUnavailable') throw error;
          return { revision: (expected === 'none' ? -1 : expected) + events.length, position: 0n };
        });
    },
  },
  {
    name: 'takes a lost race for a won one',
    foundAs: /./,
    store: (store) => {
      const append = store.append.bind(store);
      store.append = (stream, expected, events) =>
        append(stream, expected, events).catch((error: Error) => {
          if (error.name !== 'WrongRevision') throw error;
          return { revision: (expected === 'none' ? -1 : expected) + events.length, position: 0n };
        });
    },
  },
  {
    name: 'writes what it decided on after a lost race, and does not decide again',
    foundAs: /./,
    store: appendsAllTheSame(() => true),
  },
  {
    name: 'goes on in a journal that another one has taken',
    foundAs: /Run \d of|followed by|was sealed|reader/,
    store: appendsAllTheSame((stream) => stream.startsWith('message-')),
  },
  {
    name: 'lets both of two decisions on a call win',
    foundAs: /was decided on and did not wait|was resumed and did not wait/,
    store: appendsAllTheSame((_, types) => types.includes('TurnResumed')),
  },
  {
    name: 'lets both of two deciders on a slot win',
    foundAs: /another slot was next|two runs under way/,
    store: appendsAllTheSame((stream) => stream.startsWith('schedule-')),
  },
  {
    name: 'decides on what a node says that lags',
    foundAs: /./,
    store: (store) => {
      const read = store.read.bind(store);
      store.read = async function* (stream, reading) {
        for await (const page of read(stream, reading)) {
          const shown: readonly StoredEvent[] = store.follower?.shownOf(page) ?? page;
          if (shown.length > 0) yield shown;
        }
      };
    },
  },
  {
    name: 'goes on with the log one event too late',
    foundAs: /is not over|0 times/,
    store: (store) => {
      const followAll = store.followAll.bind(store);
      store.followAll = async function* (after, ...more) {
        let isFirst = after >= 0n;
        for await (const page of followAll(after, ...more)) {
          yield isFirst ? { ...page, events: page.events.slice(1) } : page;
          isFirst &&= page.events.length === 0;
        }
      };
    },
  },
  {
    name: 'says that an event is done before a reaction has acted on it',
    foundAs: /is not over|0 times/,
    isDoneBeforeActing: true,
  },
  {
    name: 'has read models pass over an event now and then',
    foundAs: /is not over/,
    readModels: (server) => {
      const apply = server.apply.bind(server);
      let count = 0;
      server.apply = (event) => {
        if (++count % 9 !== 0) apply(event);
      };
    },
  },
];
