import { APPEND_PATIENCE_MS, appendWithRetry, whileUnavailable } from './append-with-retry.js';
import { AppendRaces, type Overtaken, RACE_PATIENCE_MS } from './append-races.js';
import { type Codec, currentVersion, decode, encodeMetadata, Undecodable } from './codec.js';
import type { Decider, Decision } from './decider.js';
import type { Appended, EventStore, ExpectedRevision, NewEvent, StoredEvent } from './event-store.js';
import type { Cause, Event } from './events.js';
import { eventsSinceSnapshot, type SnapshotRule } from './snapshots.js';
import { deterministicId } from '../ids.js';
import type { Timing } from '../timing.js';

/** An aggregate as the log keeps it: how it is folded and how its events are written. With snapshots it is folded from the newest on. */
export type Aggregate<State, E extends Event> = Decider<State, E> & Readonly<{ codec: Codec<E>; snapshot?: SnapshotRule<E> }>;

export type Folded<State> = Readonly<{ state: State; revision: ExpectedRevision; position: bigint | undefined }>;

/** What is known of a stream under an id that was made up a moment ago. */
export const nothingYet = <State, E extends Event>({ initial }: Aggregate<State, E>): Folded<State> => ({
  state: initial,
  revision: 'none',
  position: undefined,
});

/** What a command did: the events it added (none: it was already so), and how far the caller must read to see them. */
export type Outcome<State, E extends Event> = Folded<State> & Readonly<{ events: readonly E[] }>;

/** Folds streams and appends decisions to them. */
export class Streams {
  private readonly races: AppendRaces;

  constructor(
    readonly store: EventStore,
    private readonly timing: Timing,
    private readonly appendPatienceMs = APPEND_PATIENCE_MS,
  ) {
    this.races = new AppendRaces(timing);
  }

  /** The stream from its start, or on from where an earlier fold of it ended. */
  async fold<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    before = nothingYet(aggregate),
  ): Promise<Folded<State>> {
    if (before.revision === 'none' && aggregate.snapshot) {
      const newest = await eventsSinceSnapshot(this.store, stream, aggregate.snapshot);
      if (newest) return newest.reduce((known, stored) => told(aggregate, known, stored), before);
    }
    let known = before;
    for await (const page of this.store.read(stream, { from: before.revision === 'none' ? 0 : before.revision + 1 })) {
      for (const stored of page) known = told(aggregate, known, stored);
    }
    return known;
  }

  /** How a stream began: its first events alone, folded. */
  async beginning<State, E extends Event>(stream: string, aggregate: Aggregate<State, E>, eventsMax: number): Promise<State> {
    let known = nothingYet(aggregate);
    for await (const page of this.store.read(stream, { limit: eventsMax })) {
      for (const stored of page) known = told(aggregate, known, stored);
    }
    return known.state;
  }

  /**
   * Folds, decides, appends the events; after a lost race it folds and decides again. A caller that has just folded the stream
   * passes that and saves a read: if the stream has gone on since, the race is lost.
   * @throws Rejection, StoreUnavailable, WrongRevision when races were lost for as long as `patienceMs`
   */
  async transact<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    decide: Decision<State, E>,
    cause: Cause,
    known?: Folded<State>,
    patienceMs = RACE_PATIENCE_MS,
  ): Promise<Outcome<State, E>> {
    let folded = known ?? (await this.fold(stream, aggregate));
    return this.race(
      stream,
      async (overtaken) => {
        if (overtaken) folded = await this.foldAfter(overtaken, stream, aggregate, folded);
        const events = decide(folded.state);
        if (events.length === 0) return { ...folded, events };
        const appended = await this.append(stream, folded.revision, aggregate.codec, events, cause);
        return { ...appended, state: events.reduce(aggregate.evolve, folded.state), events };
      },
      patienceMs,
    );
  }

  /**
   * States what has happened already, as `transact` does, and does not give up over lost races: they end once it is stated,
   * or once the decision finds that it is, or refuses because somebody else has taken over.
   */
  record<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    decide: Decision<State, E>,
    cause: Cause,
    known?: Folded<State>,
  ): Promise<Outcome<State, E>> {
    return this.transact(stream, aggregate, decide, cause, known, Infinity);
  }

  /** For appends that no aggregate decides on: reads, and appends, again after every lost race. @throws as `transact` does */
  race<T>(stream: string, attempt: (overtaken?: Overtaken) => Promise<T>, patienceMs = RACE_PATIENCE_MS): Promise<T> {
    return this.races.run(stream, attempt, patienceMs);
  }

  /** The stream as it is after others have appended to it. */
  private async foldAfter<State, E extends Event>(
    overtaken: Overtaken,
    stream: string,
    aggregate: Aggregate<State, E>,
    before: Folded<State>,
  ): Promise<Folded<State>> {
    const folded = await this.fold(stream, aggregate, before);
    if (overtaken === 'waited' || typeof overtaken.actual !== 'number') return folded;
    // The revision can be read by now; what reads do not show of it is not kept, and still counts.
    const isShort = folded.revision === 'none' || folded.revision < overtaken.actual;
    return isShort ? { ...folded, revision: overtaken.actual } : folded;
  }

  /**
   * One append with ids derived from its place, content and cause, repeated while its outcome is unknown. The content
   * counts, so that two workers who claim the same thing for the same cause never pass as one append.
   */
  async append<E extends Event>(stream: string, expected: ExpectedRevision, codec: Codec<E>, events: readonly E[], cause: Cause) {
    const first = expected === 'none' ? 0 : expected + 1;
    const written = events.map(({ type, data }, index): NewEvent => {
      const text = JSON.stringify(data);
      return {
        id: deterministicId(stream, first + index, type, text, cause.correlationId, cause.causationId),
        type,
        data: text,
        metadata: encodeMetadata(cause, currentVersion(codec, type)),
      };
    });
    return this.appendEvents(stream, expected, written);
  }

  /** One append of events that are written already, repeated while its outcome is unknown. @throws as `appendWithRetry` does */
  appendEvents(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    patienceMs = this.appendPatienceMs,
  ): Promise<Appended> {
    return appendWithRetry(this.store, this.timing, patienceMs, stream, expected, events);
  }

  /** Does what is harmless to repeat, until it is done or the store was away for as long as `patienceMs`. @throws as `whileUnavailable` does */
  retryWhileUnavailable<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
    return whileUnavailable(this.timing, this.timing.elapsedMs() + patienceMs, work);
  }
}

function told<State, E extends Event>(
  aggregate: Aggregate<State, E>,
  { state }: Folded<State>,
  stored: StoredEvent,
): Folded<State> {
  const event = decode(aggregate.codec, stored);
  if (!event) throw new Undecodable(stored, new Error('A newer version of the program wrote this stream.'));
  return { state: aggregate.evolve(state, event), revision: stored.revision, position: stored.position };
}
