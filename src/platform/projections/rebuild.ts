import type { Sql } from 'postgres';
import { filterOf, type Projection } from '../../../projections/projection.js';
import { type EventStore, isPlaceIn } from '../../kernel/event-sourcing/event-store.js';
import { isDiskFull } from '../../kernel/full-disk.js';
import type { Timing } from '../../kernel/timing.js';
import { Leadership } from '../supervision/leadership.js';
import { Pages } from '../supervision/pages.js';
import { compareAtRest, type Comparison, heldStill } from './rebuild-comparison.js';
import { buildDeferredIndexes, deferIndexes } from './deferred-indexes.js';
import { type Definition, definitionOf } from './definition.js';
import { type Parked, parkedIn } from './parking.js';
import { ProjectionWriter } from './projection-writer.js';
import { createSchema, dropSchema, readCheckpoint } from './schema.js';
import { FencedOut } from './shared-transaction.js';
import { batchesUpTo } from './rebuild-batches.js';
import { dropRetired, putInPlace, rebuiltOf } from './rebuild-swap.js';

/** The live writer is blocked only when catching up takes less than this, or after ROUNDS_MAX rounds. */
const NEAR_MS = 1_000;
const ROUNDS_MAX = 5;
/** How long live rows that differ may take to reach the events that the log has after them. */
const LATE_MS_MAX = 10_000;
export const LATE_CHECK_MS = 100;

/** Another process is rebuilding the same projection. */
export class RebuildUnderWay extends Error {
  override readonly name = 'RebuildUnderWay';
  constructor(projection: string) {
    super(`${projection} is being rebuilt by another process.`);
  }
}

/** The rebuild or the verification was cancelled. The next rebuild continues from the checkpoint of this one. */
export class RebuildCancelled extends Error {
  override readonly name = 'RebuildCancelled';
}

export type RebuildProgress = Readonly<{
  phase: 'rebuilding' | 'indexing' | 'comparing' | 'swapping';
  position: bigint;
  target: bigint;
  events: number;
}>;

export type RebuildOptions = Readonly<{
  /** Changes nothing and only reports whether the live rows match the log. */
  verifyOnly?: boolean;
  timing: Timing;
  signal: AbortSignal;
  onProgress: (progress: RebuildProgress) => void;
}>;

export type RebuildOutcome = Readonly<{
  projection: string;
  /** Number of events that this run applied. An earlier, interrupted run may have applied others. */
  events: number;
  seconds: number;
  resumedAt: bigint | undefined;
  /** Undefined if there was nothing to compare with. */
  comparison: Comparison | undefined;
  parked: readonly Parked[];
  swapped: boolean;
}>;

/**
 * Fills a schema beside the live one from the log, compares both at one position, and replaces the live one. The service keeps
 * running: the live writer is blocked only for the last few events. A crash at any moment leaves the live rows unchanged, and the
 * next rebuild continues from the checkpoint.
 */
export class Rebuild {
  private readonly shadow: string;
  private readonly startedAt: number;
  private events = 0;
  /** Whether the log has an event at the live position. A restored log that has grown past it may have none. */
  private isLivePlaced = true;
  private resumedAt: bigint | undefined;
  private writer!: ProjectionWriter;

  private constructor(
    private readonly sql: Sql,
    private readonly store: EventStore,
    private readonly definition: Definition,
    private readonly options: RebuildOptions,
  ) {
    this.shadow = rebuiltOf(definition.schema);
    this.startedAt = options.timing.elapsedMs();
  }

  /** @throws RebuildUnderWay, RebuildCancelled */
  static async run(sql: Sql, store: EventStore, projection: Projection, options: RebuildOptions): Promise<RebuildOutcome> {
    const leadership = new Leadership(sql, options.timing);
    try {
      if (!(await leadership.tryGain(`rebuild:${projection.name}`))) throw new RebuildUnderWay(projection.name);
      return await new Rebuild(sql, store, await definitionOf(projection), options).run();
    } finally {
      await leadership.close();
    }
  }

  private async run(): Promise<RebuildOutcome> {
    const { sql, definition, options } = this;
    await dropRetired(sql, definition.schema, options.timing);
    this.writer = await this.openShadow();
    try {
      return await this.rebuilt();
    } catch (error) {
      // This process has lost its leadership, and another one has begun a rebuild since.
      if (error instanceof FencedOut) throw new RebuildUnderWay(definition.projection.name);
      // No later run continues a verification, and rows that fill the disk would keep the service from storing anything.
      if (options.verifyOnly || isDiskFull(error)) await this.dropShadow().catch(() => undefined);
      throw error;
    }
  }

  /** Drops the rebuilt rows. @throws FencedOut if another process has taken them over */
  private async dropShadow(): Promise<void> {
    await this.sql.begin(async (tx) => {
      await this.writer.keepOthersOut(tx);
      await dropSchema(tx, this.shadow);
    });
  }

  private async rebuilt(): Promise<RebuildOutcome> {
    const { sql, store, definition, options } = this;
    const live = await readCheckpoint(sql, definition.schema);
    this.isLivePlaced = live === undefined || options.verifyOnly === true || (await isPlaceIn(store, live.position));
    await this.catchUp();
    if (!options.verifyOnly) {
      this.show('indexing', this.writer.position);
      await buildDeferredIndexes(sql, this.shadow);
    }
    // Rows of another version are expected to differ.
    const isComparable = live && this.isLivePlaced && (options.verifyOnly || live.fingerprint === definition.fingerprint);
    const comparison = isComparable ? await this.compare() : undefined;
    if (!options.verifyOnly) await this.swap();
    const parked = await parkedIn(sql, options.verifyOnly ? this.shadow : definition.schema);
    if (options.verifyOnly) await this.dropShadow();
    return {
      projection: definition.projection.name,
      events: this.events,
      seconds: (options.timing.elapsedMs() - this.startedAt) / 1000,
      resumedAt: this.resumedAt,
      comparison,
      parked,
      swapped: !options.verifyOnly,
    };
  }

  /**
   * Opens the schema of an interrupted run if the same code wrote it and it is not ahead of live or the log; else creates a new
   * one. A verification always creates one, because the log may have changed since the interrupted run has read it.
   */
  private async openShadow(): Promise<ProjectionWriter> {
    const { sql, definition, shadow, store, options } = this;
    const left = options.verifyOnly ? undefined : await readCheckpoint(sql, shadow);
    const ends = [await store.head(), await this.livePosition()];
    const isKept =
      left?.fingerprint === definition.fingerprint &&
      ends.every((end) => end === undefined || left.position <= end) &&
      (await isPlaceIn(store, left.position));
    if (isKept) {
      this.resumedAt = left.position;
    } else {
      await dropSchema(sql, shadow);
      await createSchema(sql, definition, shadow);
      await deferIndexes(sql, shadow, definition.projection.indexesLast ? 'all' : 'texts');
    }
    return ProjectionWriter.open(sql, definition, shadow);
  }

  private async livePosition(): Promise<bigint | undefined> {
    return (await readCheckpoint(this.sql, this.definition.schema))?.position;
  }

  /** Applies events up to the live position, repeatedly until it is close. Without such a place, up to the end of the log. */
  private async catchUp(): Promise<void> {
    for (let round = 1; round <= ROUNDS_MAX; round++) {
      const roundStartedAt = this.options.timing.elapsedMs();
      await this.fill((this.isLivePlaced ? await this.livePosition() : undefined) ?? (await this.store.head()));
      if (this.options.timing.elapsedMs() - roundStartedAt < NEAR_MS) return;
    }
  }

  /**
   * A verification compares again if live rows that differ were late: they include events that were purged since until they reach
   * the purge. A rebuild replaces them anyway.
   */
  private async compare(): Promise<Comparison> {
    for (let round = 1; ; round++) {
      const comparison = await this.compareOnce();
      const isRepeated = this.options.verifyOnly && comparison.difference && round < ROUNDS_MAX;
      const newest = isRepeated ? await this.newestAfter(comparison.position) : undefined;
      if (newest === undefined) return comparison;
      if (!(await this.liveReaches(newest))) return { ...comparison, lateFor: newest };
    }
  }

  /** The newest event for this projection after a position. Undefined if there is none, or if the log has no such position. */
  private async newestAfter(position: bigint): Promise<bigint | undefined> {
    let newest: bigint | undefined;
    if (!(await isPlaceIn(this.store, position))) return undefined;
    for await (const { events } of this.store.readAll({ after: position, filter: filterOf(this.definition.projection) })) {
      this.throwIfCancelled();
      newest = events.at(-1)?.position ?? newest;
    }
    return newest;
  }

  private async liveReaches(position: bigint): Promise<boolean> {
    const { timing, signal } = this.options;
    const until = timing.elapsedMs() + LATE_MS_MAX;
    for (;;) {
      const live = await this.livePosition();
      if (live !== undefined && live >= position) return true;
      if (timing.elapsedMs() >= until) return false;
      await timing.pause(LATE_CHECK_MS, signal);
      this.throwIfCancelled();
    }
  }

  private async compareOnce(): Promise<Comparison> {
    const { sql, definition, shadow, options } = this;
    this.show('comparing', this.writer.position);
    return compareAtRest(sql, options.timing, { live: definition.schema, rebuilt: shadow }, async (position) => {
      await this.fill(position);
      // Fails if another rebuild has taken the rebuilt schema over and is filling it again.
      await sql.begin((tx) => this.writer.keepOthersOut(tx));
    });
  }

  private async swap(): Promise<void> {
    const { sql, definition, options } = this;
    await this.catchUp();
    this.show('swapping', this.writer.position);
    if ((await this.livePosition()) === undefined) {
      await sql.begin(async (tx) => {
        await this.writer.keepOthersOut(tx);
        await putInPlace(tx, definition.schema, false);
      });
      return;
    }
    await heldStill(sql, options.timing, definition.schema, async (tx, position) => {
      await this.fill(this.isLivePlaced ? position : await this.store.head());
      await this.writer.keepOthersOut(tx);
      await putInPlace(tx, definition.schema, true);
    });
    // The rows are in place. Tables that a backup still reads are dropped by the next rebuild.
    await dropRetired(sql, definition.schema, options.timing).catch(() => undefined);
  }

  /** Applies events exactly up to a position. Past it, the two schemas could not be compared. */
  private async fill(target: bigint): Promise<void> {
    if (this.writer.position >= target) return;
    let isClosed = false;
    const source = this.store.readAll({ after: this.writer.position, filter: filterOf(this.definition.projection) });
    // A batch is read and decoded while Postgres applies the previous one.
    const isOver = () => isClosed || this.options.signal.aborted;
    const batches = new Pages(batchesUpTo(target, source, isOver), () => (isClosed = true));
    try {
      for (let batch = await batches.next(); batch; batch = await batches.next()) {
        this.throwIfCancelled();
        await this.writer.write(batch);
        this.events += batch.events.length;
        this.show('rebuilding', target);
      }
    } finally {
      await batches.close();
    }
    this.throwIfCancelled();
  }

  private throwIfCancelled(): void {
    const { signal, verifyOnly } = this.options;
    if (!signal.aborted) return;
    throw new RebuildCancelled(
      verifyOnly ? 'The verification was cancelled.' : 'The rebuild was cancelled; run it again to go on.',
    );
  }

  private show(phase: RebuildProgress['phase'], target: bigint): void {
    this.options.onProgress({ phase, position: this.writer.position, target, events: this.events });
  }
}
