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

/** How the streams of an aggregate are folded and its events encoded. With snapshots, folding starts at the newest one. */
export type Aggregate<State, E extends Event> = Decider<State, E> & Readonly<{ codec: Codec<E>; snapshot?: SnapshotRule<E> }>;

/**
 * How long an answer in progress waits for the event store. If it failed, its question would have to be asked again, and its
 * approved calls would have to be approved again.
 */
export const ANSWER_PATIENCE_MS = 60_000;

/** A state. Its size is estimated by the `characters` of the events that it was folded from, since the newest snapshot. */
export type Folded<State> = Readonly<{
  state: State;
  revision: ExpectedRevision;
  position: bigint | undefined;
  characters: number;
}>;

/** The state of a stream without events, for example under a fresh id. */
export const nothingYet = <State, E extends Event>({ initial }: Aggregate<State, E>): Folded<State> => ({
  state: initial,
  revision: 'none',
  position: undefined,
  characters: 0,
});

/** The outcome of a command: the appended events (none if nothing had to change), their ids, and the state and position after them. */
export type Outcome<State, E extends Event> = Folded<State> & Readonly<{ events: readonly E[]; ids: readonly string[] }>;

/** A state, and whether it was read from the store. A cached state may be stale. */
type Basis<State> = { folded: Folded<State>; isRead: boolean };

/**
 * How a decision is appended. Lost races are retried for `patienceMs`. `whileAppending` receives the expected outcome, without its
 * position, when an append has begun. It must not throw.
 */
type AppendOptions<State, E extends Event> = Readonly<{
  patienceMs?: number;
  whileAppending?: (outcome: Outcome<State, E>) => void;
}>;

/** Folds streams, and appends the events of decisions. */
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

  /** Folds a stream from its start, or continues an earlier fold. */
  async fold<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    before = nothingYet(aggregate),
  ): Promise<Folded<State>> {
    if (before.revision === 'none' && aggregate.snapshot) {
      const newest = await eventsSinceSnapshot(this.store, stream, aggregate.snapshot);
      if (newest) return newest.reduce((known, stored) => applied(aggregate, known, stored), before);
    }
    let known = before;
    for await (const page of this.store.read(stream, { from: before.revision === 'none' ? 0 : before.revision + 1 })) {
      for (const stored of page) known = applied(aggregate, known, stored);
    }
    return known;
  }

  /** Folds a stream, but reads only what is not in its cached state, in which events that were deleted since still count. */
  async foldOnwards<State, E extends Event>(stream: string, aggregate: Aggregate<State, E>): Promise<Folded<State>> {
    const folded = await this.fold(stream, aggregate, this.recent.of<Folded<State>>(stream, aggregate));
    // An id that does not exist must not displace a stream in use.
    if (folded.revision !== 'none') this.recent.remember(stream, aggregate, folded);
    return folded;
  }

  /** Folds only the first events of a stream. */
  async beginning<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    eventsMax: number,
  ): Promise<Folded<State>> {
    let known = nothingYet(aggregate);
    for await (const page of this.store.read(stream, { limit: eventsMax })) {
      for (const stored of page) known = applied(aggregate, known, stored);
    }
    return known;
  }

  /** The cached state of the stream if it suffices, else the state read from the store. */
  async foldSuch<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    suffices: (remembered: Folded<State>) => boolean,
  ): Promise<Folded<State>> {
    const recent = this.recent.of<Folded<State>>(stream, aggregate);
    return recent && suffices(recent) ? recent : this.fold(stream, aggregate);
  }

  /**
   * Folds the stream, decides, and appends the events. After a lost race it folds and decides again. A caller that has just folded
   * the stream passes the result as `known` and saves the read; if the stream has grown since, the race is lost. A cached state
   * saves the read too, but a refusal or an empty decision on it is decided again on the state that the store returns.
   * @throws Rejection; StoreUnavailable; WrongRevision after `patienceMs` of lost races
   */
  async transact<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    decide: Decision<State, E>,
    cause: Cause,
    known?: Folded<State>,
    { patienceMs = RACE_PATIENCE_MS, whileAppending }: AppendOptions<State, E> = {},
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
        const decided = expectedOutcome(aggregate, folded, events, written);
        const appending = this.appendEvents(stream, folded.revision, written);
        // Handled below, unless the callback throws.
        appending.catch(() => undefined);
        whileAppending?.(decided);
        const outcome = { ...decided, ...(await appending) };
        const { state, revision, position, characters } = outcome;
        this.recent.remember(stream, aggregate, { state, revision, position, characters });
        return outcome;
      },
      patienceMs,
    );
  }

  /**
   * As `transact`, for what has already happened: lost races are retried without a limit. They end when the event is appended, or
   * when the decision returns nothing or refuses, because another process has appended it or has taken over.
   */
  record<State, E extends Event>(
    stream: string,
    aggregate: Aggregate<State, E>,
    decide: Decision<State, E>,
    cause: Cause,
    known?: Folded<State>,
  ): Promise<Outcome<State, E>> {
    return this.transact(stream, aggregate, decide, cause, known, { patienceMs: Infinity });
  }

  /** Runs an attempt to read and append without an aggregate, again after each lost race. @throws as `transact` does */
  race<T>(stream: string, attempt: (overtaken?: Overtaken) => Promise<T>, patienceMs = RACE_PATIENCE_MS): Promise<T> {
    return this.races.run(stream, attempt, patienceMs);
  }

  /** Folds the stream after other callers have appended to it. */
  private async foldAfter<State, E extends Event>(
    overtaken: Overtaken,
    stream: string,
    aggregate: Aggregate<State, E>,
    before: Folded<State>,
    mayRemember: boolean,
  ): Promise<Basis<State>> {
    // A caller that passed `known` may compare the new events with it, so its fold is continued.
    const recent = mayRemember && overtaken === 'waited' ? this.recent.of<Folded<State>>(stream, aggregate) : undefined;
    // The callers of this process that ran before have cached their outcome.
    if (recent && isAtLeast(recent.revision, before.revision === 'none' ? 0 : before.revision + 1)) {
      return { folded: recent, isRead: false };
    }
    const folded = await this.fold(stream, aggregate, before);
    if (overtaken === 'waited' || typeof overtaken.actual !== 'number') return { folded, isRead: true };
    // Reads show this revision by now. If they show less, bounds hide the events, whose revisions still count.
    return {
      folded: isAtLeast(folded.revision, overtaken.actual) ? folded : { ...folded, revision: overtaken.actual },
      isRead: true,
    };
  }

  /**
   * Appends events with ids derived from revision, content and cause, and repeats the append while its outcome is unknown. The
   * content is part of the id, so that equal claims of two workers for the same cause are never taken for one append.
   */
  async append<E extends Event>(stream: string, expected: ExpectedRevision, codec: Codec<E>, events: readonly E[], cause: Cause) {
    const written = writtenEvents(stream, expected, codec, events, cause);
    return { ...(await this.appendEvents(stream, expected, written)), ids: written.map(({ id }) => id) };
  }

  /**
   * Appends encoded events, and repeats the append while its outcome is unknown. With `bounds` it also sets the bounds of the
   * stream. @throws as `appendWithRetry` does
   */
  appendEvents(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
    patienceMs = this.appendPatienceMs,
    bounds?: Retention,
  ): Promise<Appended> {
    const { store } = this;
    const append = () => (bounds ? store.appendWithin(bounds, stream, expected, events) : store.append(stream, expected, events));
    return appendWithRetry(store, this.timing, patienceMs, append);
  }

  /** Repeats idempotent work while the store is unavailable, for `patienceMs` at most. @throws as `whileUnavailable` does */
  retryWhileUnavailable<T>(patienceMs: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return whileUnavailable(this.timing, this.timing.elapsedMs() + patienceMs, work, signal);
  }
}

const firstAfter = (expected: ExpectedRevision): number => (expected === 'none' ? 0 : expected + 1);

/** Encodes events for an append after a revision. */
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

/** The outcome of an append that has not been answered yet. */
const expectedOutcome = <State, E extends Event>(
  aggregate: Aggregate<State, E>,
  { state, revision, characters }: Folded<State>,
  events: readonly E[],
  written: readonly NewEvent[],
): Outcome<State, E> => ({
  state: events.reduce(aggregate.evolve, state),
  revision: firstAfter(revision) + events.length - 1,
  position: undefined,
  characters: written.reduce((before, event) => charactersWith(aggregate, before, event), characters),
  events,
  ids: written.map(({ id }) => id),
});

export const isAtLeast = (revision: ExpectedRevision, least: number): boolean => revision !== 'none' && revision >= least;

/** Returns no events if the decision refuses, because the state may be stale. */
function unlessRefused<State, E extends Event>(decide: Decision<State, E>, state: State): readonly E[] {
  try {
    return decide(state);
  } catch (error) {
    if (error instanceof Rejection) return [];
    throw error;
  }
}

function applied<State, E extends Event>(
  aggregate: Aggregate<State, E>,
  { state, characters }: Folded<State>,
  stored: StoredEvent,
): Folded<State> {
  const event = decode(aggregate.codec, stored);
  if (!event) throw new Undecodable(stored, new Error('A newer version of the program wrote this stream.'));
  return {
    state: aggregate.evolve(state, event),
    revision: stored.revision,
    position: stored.position,
    characters: charactersWith(aggregate, characters, stored),
  };
}

const charactersWith = (
  { snapshot }: Readonly<{ snapshot?: Readonly<{ type: string }> }>,
  before: number,
  { type, data }: Pick<NewEvent, 'type' | 'data'>,
): number => (type === snapshot?.type ? 0 : before) + data.length;
