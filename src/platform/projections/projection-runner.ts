import type { Sql } from 'postgres';
import type { Logger } from 'pino';
import { filterOf } from '../../../projections/projection.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { withSignals } from '../../kernel/with-signals.js';
import { hasTable } from '../postgres/catalog.js';
import { BACK_OFF_FIRST_MS } from '../supervision/back-off.js';
import { type Leadership, LeadershipLost } from '../supervision/leadership.js';
import { Pages } from '../supervision/pages.js';
import type { Semaphore } from '../supervision/semaphore.js';
import { supervise } from '../supervision/supervise.js';
import { type Definition, DefinitionChanged } from './definition.js';
import type { LiveGroup } from './live-group.js';
import type { Progress } from './progress.js';
import type { ProjectionFaults } from './projection-faults.js';
import type { Parking } from './parking.js';
import { ProjectionWriter } from './projection-writer.js';
import { Rebuild, type RebuildProgress } from './rebuild.js';
import { createSchema } from './schema.js';
import { FencedOut } from './shared-transaction.js';

/** How a process rebuilds rows of another version itself. */
export type OwnRebuilds = Readonly<{
  limit: Semaphore;
  /** @throws an error of a full disk before a rebuild fills the disk */
  requireSpace: () => void;
}>;

export type RunnerDependencies = Readonly<{
  sql: Sql;
  store: EventStore;
  leadership: Leadership;
  /** The up-to-date projections of this process. */
  group: LiveGroup;
  /** Limits the transactions of the projections that are behind. */
  catchingUp: Semaphore;
  /** Undefined if other processes, perhaps of the other version, may use the same rows. An operator starts the rebuild then. */
  ownRebuilds?: OwnRebuilds;
  progress: Progress;
  timing: Timing;
  log: Logger;
  /** Publishes failures to other processes. */
  faults?: ProjectionFaults;
}>;

/** The name of the leadership for writing a projection. */
export const writerOf = (projection: string): string => `projection:${projection}`;

/** Keeps the live rows of a projection up to date while this process leads. */
export class ProjectionRunner {
  /** The error of the last attempt, until there is progress again or another process leads. */
  failure: string | undefined;
  leading = false;
  /** Whether a fault may be published, by this process or by the last writer, which may be gone. */
  private mayBeFaulty = false;

  constructor(
    private readonly dependencies: RunnerDependencies,
    readonly definition: Definition,
  ) {}

  get name(): string {
    return this.definition.projection.name;
  }

  run(signal: AbortSignal): Promise<void> {
    return supervise((until) => this.lead(until), {
      name: `Projection ${this.name}`,
      signal,
      log: this.dependencies.log,
      timing: this.dependencies.timing,
      onFailure: (error) => this.failed(error instanceof Error ? error.message : String(error)),
    });
  }

  private async lead(signal: AbortSignal): Promise<void> {
    const lost = await this.dependencies.leadership.gain(writerOf(this.name), signal, () => this.recovered());
    if (!lost) return;
    this.leading = true;
    this.mayBeFaulty = true;
    try {
      await withSignals([signal, lost], async (until) => this.follow(await this.open(until), until));
    } catch (error) {
      if (!(error instanceof FencedOut)) throw error;
      const { log, timing } = this.dependencies;
      log.info(`The rows of projection ${this.name} were replaced by a rebuild, or have another writer. It starts again.`);
      // Two processes that both believe that they lead would fence each other out without a pause.
      return await timing.pause(BACK_OFF_FIRST_MS, signal);
    } finally {
      this.leading = false;
      this.dependencies.progress.handedOver(this.name);
    }
    if (!signal.aborted) throw new LeadershipLost(`The connection that made this process the writer of ${this.name} was lost.`);
  }

  private async open(signal: AbortSignal): Promise<ProjectionWriter> {
    const { sql } = this.dependencies;
    const { schema } = this.definition;
    if (!(await hasTable(sql, schema, 'checkpoint'))) await createSchema(sql, this.definition, schema);
    try {
      return await this.takeOver();
    } catch (error) {
      const { ownRebuilds } = this.dependencies;
      if (!(error instanceof DefinitionChanged) || !ownRebuilds) throw error;
      this.failure = error.message;
      await ownRebuilds.limit.run(() => this.rebuild(ownRebuilds, signal));
      return this.takeOver();
    }
  }

  private async rebuild({ requireSpace }: OwnRebuilds, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { sql, store, timing, log } = this.dependencies;
    log.info(`The rows of ${this.name} were made by another version of it and are rebuilt from the log`);
    const onProgress = ({ phase }: RebuildProgress) => phase === 'rebuilding' && requireSpace();
    const { events, seconds } = await Rebuild.run(sql, store, this.definition.projection, { timing, signal, onProgress });
    log.info({ events, seconds }, `The rows of ${this.name} were rebuilt`);
  }

  private takeOver(): Promise<ProjectionWriter> {
    const { sql } = this.dependencies;
    const { schema } = this.definition;
    return ProjectionWriter.open(sql, this.definition, schema, (parking) => this.parked(parking));
  }

  private parked({ event: { stream, revision, type }, fault }: Parking): void {
    this.dependencies.log.error({ err: fault, stream, revision, type }, `Projection ${this.name} has parked ${stream}`);
  }

  /** Follows the log alone while behind, then in the group, and alone again after a failed write of the group. */
  private async follow(writer: ProjectionWriter, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.catchUp(writer, signal);
      if (!signal.aborted) await this.dependencies.group.keepUp(writer, signal);
    }
  }

  /** Follows the log alone until the projection has come as far as the group. */
  private async catchUp(writer: ProjectionWriter, signal: AbortSignal): Promise<void> {
    const { store, progress, group, catchingUp } = this.dependencies;
    const stop = new AbortController();
    const until = AbortSignal.any([signal, stop.signal]);
    const source = store.followAll(writer.considered, filterOf(this.definition.projection), until);
    const pages = new Pages(
      source,
      () => stop.abort(),
      ({ caughtUp }) => !caughtUp,
    );
    progress.wrote(this.name, writer.considered);
    try {
      for (let page, joins = false; !joins && (page = await pages.next());) {
        if (page.events.length > 0) await catchingUp.run(() => writer.write(page));
        else writer.pass(page.position);
        joins = page.caughtUp && (group.takes(writer) || (await this.passesToGroup(writer, signal)));
        this.recovered();
        progress.wrote(this.name, writer.considered, page.events.length > 0);
      }
      // This write also checks that this process is still the writer, so that the group's transaction does not fail over it.
      const rest = { events: [], position: writer.considered };
      if (writer.position < rest.position) await catchingUp.run(() => writer.write(rest));
    } finally {
      await pages.close();
    }
  }

  /**
   * A source may be caught up with less than the group has, which has its own source, and then be silent for a minute. Passes to
   * where the log shows that no event for this projection lies between.
   */
  private async passesToGroup(writer: ProjectionWriter, signal: AbortSignal): Promise<boolean> {
    const { store, group } = this.dependencies;
    const filter = filterOf(this.definition.projection);
    while (!group.takes(writer) && !signal.aborted) {
      for await (const { events, position } of store.readAll({ after: writer.considered, filter, limit: 1 })) {
        // If the newest events were deleted, the log ends before the group's place until the next event.
        if (events.length > 0 || position <= writer.considered) return false;
        writer.pass(position);
      }
    }
    return true;
  }

  private failed(reason: string): void {
    this.failure = reason;
    this.mayBeFaulty = true;
    this.dependencies.faults?.report(this.name, reason);
  }

  private recovered(): void {
    this.failure = undefined;
    if (!this.mayBeFaulty) return;
    this.mayBeFaulty = false;
    this.dependencies.faults?.report(this.name, undefined);
  }
}
