import { APPEND_PATIENCE_MS, appendWithRetry, whileUnavailable } from './append-with-retry.js';
import { AppendRaces, type Overtaken, RACE_PATIENCE_MS } from './append-races.js';
import { type Codec, currentVersion, decode, encodeMetadata, Undecodable } from './codec.js';
import type { Decider, Decision } from './decider.js';
import type { Appended, EventStore, ExpectedRevision, NewEvent, Retention, StoredEvent } from './event-store.js';
import type { Cause, Event } from './events.js';
import { eventsSinceSnapshot, type SnapshotRule } from './snapshots.js';
import { RecentFolds } from './recent-folds.js';
import { deterministicId } from '../ids.js';
import { Rejection } from '../rejection.js';
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

/** What a command did: the events it added (none: it was already so) with their ids, and how far the caller must read to see them. */
export type Outcome<State, E extends Event> = Folded<State> & Readonly<{ events: readonly E[]; ids: readonly string[] }>;

/** A state and whether the store said so; what this process remembers may be old. */
type Basis<State> = { folded: Folded<State>; isRead: boolean };

/** Folds streams and appends decisions to them. */
export class Streams {
  private readonly races: AppendRaces;
  private readonly recent: RecentFolds;

  constructor(
    readonly store: EventStore,
    private readonly timing: Timing,
    private readonly appendPatienceMs = APPEND_PATIENCE_MS,
  ) {
    this.races = new AppendRaces(timing);
    this.recent = new RecentFolds(timing);
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

  /** The stream as this process remembers it, where that suffices, which costs no read; else as the store has it. */
  async foldSuch<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    suffices: (remembered: Folded<State>) => boolean,
  ): Promise<Folded<State>> {
    const recent = this.recent.of<Folded<State>>(stream, aggregate);
    return recent && suffices(recent) ? recent : this.fold(stream, aggregate);
  }

  /**
   * Folds, decides, appends the events; after a lost race it folds and decides again. A caller that has just folded the stream
   * passes that and saves a read: if the stream has gone on since, the race is lost. What this process remembers of the stream
   * saves the read too; a refusal, or nothing to do, is decided again on what the store says. `foresee` hears what an append comes to
   * before it is sent, without its position; after a lost race it hears what the next one comes to.
   * @throws Rejection, StoreUnavailable, WrongRevision when races were lost for as long as `patienceMs`
   */
  async transact<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    decide: Decision<State, E>,
    cause: Cause,
    known?: Folded<State>,
    patienceMs = RACE_PATIENCE_MS,
    foresee?: (outcome: Outcome<State, E>) => void,
  ): Promise<Outcome<State, E>> {
    const recent = known ? undefined : this.recent.of<Folded<State>>(stream, aggregate);
    let basis: Basis<State> = recent
      ? { folded: recent, isRead: false }
      : { folded: known ?? (await this.fold(stream, aggregate)), isRead: true };
    return this.race(
      stream,
      async (overtaken) => {
        if (overtaken) basis = await this.foldAfter(overtaken, stream, aggregate, basis.folded, known === undefined);
        let events = basis.isRead ? decide(basis.folded.state) : unlessRefused(decide, basis.folded.state);
        if (events.length === 0 && !basis.isRead) {
          basis = { folded: await this.fold(stream, aggregate, basis.folded), isRead: true };
          events = decide(basis.folded.state);
        }
        const { folded } = basis;
        if (events.length === 0) return { ...folded, events, ids: [] };
        const written = writtenEvents(stream, folded.revision, aggregate.codec, events, cause);
        const decided = { state: events.reduce(aggregate.evolve, folded.state), events, ids: written.map(({ id }) => id) };
        foresee?.({ ...decided, revision: firstAfter(folded.revision) + events.length - 1, position: undefined });
        const outcome = { ...decided, ...(await this.appendEvents(stream, folded.revision, written)) };
        this.recent.remember(stream, aggregate, { state: outcome.state, revision: outcome.revision, position: outcome.position });
        return outcome;
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
    mayRemember: boolean,
  ): Promise<Basis<State>> {
    // A caller that has read the stream itself may compare what comes with what it knew, so that is gone on from.
    const recent = mayRemember && overtaken === 'waited' ? this.recent.of<Folded<State>>(stream, aggregate) : undefined;
    // Those of this process that went before have left what they know.
    if (recent && isAtLeast(recent.revision, before.revision === 'none' ? 0 : before.revision + 1)) {
      return { folded: recent, isRead: false };
    }
    const folded = await this.fold(stream, aggregate, before);
    if (overtaken === 'waited' || typeof overtaken.actual !== 'number') return { folded, isRead: true };
    // The revision can be read by now; what reads do not show of it is not kept, and still counts.
    return {
      folded: isAtLeast(folded.revision, overtaken.actual) ? folded : { ...folded, revision: overtaken.actual },
      isRead: true,
    };
  }

  /**
   * One append with ids derived from its place, content and cause, repeated while its outcome is unknown. The content
   * counts, so that two workers who claim the same thing for the same cause never pass as one append.
   */
  async append<E extends Event>(stream: string, expected: ExpectedRevision, codec: Codec<E>, events: readonly E[], cause: Cause) {
    const written = writtenEvents(stream, expected, codec, events, cause);
    return { ...(await this.appendEvents(stream, expected, written)), ids: written.map(({ id }) => id) };
  }

  /**
   * One append of events that are written already, repeated while its outcome is unknown; with `bounds` the stream has these from
   * then on. @throws as `appendWithRetry` does
   */
  appendEvents(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    patienceMs = this.appendPatienceMs,
    bounds?: Retention,
  ): Promise<Appended> {
    const { store } = this;
    const append: EventStore['append'] = bounds
      ? (...what) => store.appendWithin(bounds, ...what)
      : (...what) => store.append(...what);
    const appending = { append, lastRevision: (name: string) => store.lastRevision(name) };
    return appendWithRetry(appending, this.timing, patienceMs, stream, expected, events);
  }

  /** Does what is harmless to repeat, until it is done or the store was away for as long as `patienceMs`. @throws as `whileUnavailable` does */
  retryWhileUnavailable<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
    return whileUnavailable(this.timing, this.timing.elapsedMs() + patienceMs, work);
  }
}

const firstAfter = (expected: ExpectedRevision): number => (expected === 'none' ? 0 : expected + 1);

/** Events as they are stored behind a revision. */
function writtenEvents<E extends Event>(
  stream: string,
  expected: ExpectedRevision,
  codec: Codec<E>,
  events: readonly E[],
  cause: Cause,
): readonly NewEvent[] {
  const first = firstAfter(expected);
  return events.map(({ type, data }, index) => {
    const text = JSON.stringify(data);
    return {
      id: deterministicId(stream, first + index, type, text, cause.correlationId, cause.causationId),
      type,
      data: text,
      metadata: encodeMetadata(cause, currentVersion(codec, type)),
    };
  });
}

export const isAtLeast = (revision: ExpectedRevision, least: number): boolean => revision !== 'none' && revision >= least;

/** Nothing where the decision refuses: what it refuses by may be over. */
function unlessRefused<State, E extends Event>(decide: Decision<State, E>, state: State): readonly E[] {
  try {
    return decide(state);
  } catch (error) {
    if (error instanceof Rejection) return [];
    throw error;
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
