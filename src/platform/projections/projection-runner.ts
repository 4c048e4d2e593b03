import type { Sql } from 'postgres';
import type { Logger } from 'pino';
import { filterOf } from '../../../projections/projection.js';
import type { EventStore, LogPage } from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import type { Leadership } from '../supervision/leadership.js';
import { Pages } from '../supervision/pages.js';
import { supervise } from '../supervision/supervise.js';
import { type Definition, DefinitionChanged } from './definition.js';
import type { Progress } from './progress.js';
import type { ProjectionFaults } from './projection-faults.js';
import { ProjectionWriter } from './projection-writer.js';
import { createSchema, readCheckpoint } from './schema.js';

/**
 * What happens this close together is written together, unless somebody waits for it. A question and its answer are bursts
 * of events: each written as it came, read models took half of what a question costs, and just when it is to be answered.
 */
const GATHER_MS = 20;
/** How long a checkpoint may stay behind pages that hold nothing for this projection. */
const IDLE_CHECKPOINT_MS = 2_000;

export type RunnerDependencies = Readonly<{
  sql: Sql;
  store: EventStore;
  leadership: Leadership;
  progress: Progress;
  timing: Timing;
  log: Logger;
  /** Where other processes learn why a projection does not get on. */
  faults?: ProjectionFaults;
}>;

/** The part that the writer of a projection plays. */
export const writerOf = (projection: string): string => `projection:${projection}`;

/** Keeps one projection's live rows up with the log for as long as this process is the one to do it. */
export class ProjectionRunner {
  /** Why the last attempt ended, until there is progress again. */
  failure: string | undefined;
  leading = false;

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
    const lost = await this.dependencies.leadership.gain(writerOf(this.name), signal);
    if (!lost) return;
    const until = AbortSignal.any([signal, lost]);
    this.leading = true;
    try {
      await this.follow(await this.open(), until);
    } finally {
      this.leading = false;
      this.dependencies.progress.handedOver(this.name);
    }
    if (!signal.aborted) throw new Error(`The connection that made this process the writer of ${this.name} was lost.`);
  }

  private async open(): Promise<ProjectionWriter> {
    const { sql } = this.dependencies;
    const { schema, fingerprint } = this.definition;
    const checkpoint = await readCheckpoint(sql, schema);
    if (!checkpoint) await createSchema(sql, this.definition, schema);
    else if (checkpoint.fingerprint !== fingerprint) throw new DefinitionChanged(this.name);
    return ProjectionWriter.open(sql, this.definition);
  }

  private async follow(writer: ProjectionWriter, signal: AbortSignal): Promise<void> {
    const { store, progress, timing } = this.dependencies;
    const stop = new AbortController();
    const until = AbortSignal.any([signal, stop.signal]);
    const source = store.followAll(writer.position, filterOf(this.definition.projection), until);
    const pages = new Pages(
      source,
      () => stop.abort(),
      ({ caughtUp }) => !caughtUp,
    );
    progress.wrote(this.name, writer.position);
    try {
      for (let idle: LogPage | undefined, writtenAt = -Infinity; ;) {
        // Pages with nothing of ours move the checkpoint too, but not each at the price of a transaction.
        const mayWait = idle && timing.elapsedMs() - writtenAt < IDLE_CHECKPOINT_MS;
        let page = idle && !(mayWait && (await pages.hasNextWithin(IDLE_CHECKPOINT_MS, timing))) ? idle : await pages.next();
        if (!page) return;
        if (page === idle || page.events.length > 0) {
          page = await this.gathered(page, pages, until);
          await writer.write(page);
          writtenAt = timing.elapsedMs();
          idle = undefined;
        } else {
          idle = page.position > writer.position ? page : undefined;
        }
        this.getsOn();
        progress.wrote(this.name, page.position);
      }
    } finally {
      await pages.close();
    }
  }

  private failed(reason: string): void {
    this.failure = reason;
    this.dependencies.faults?.tell(this.name, reason);
  }

  private getsOn(): void {
    if (this.failure === undefined) return;
    this.failure = undefined;
    this.dependencies.faults?.tell(this.name, undefined);
  }

  /** A page with what has come right after it. */
  private async gathered(page: LogPage, pages: Pages<LogPage>, signal: AbortSignal): Promise<LogPage> {
    if (!page.caughtUp || page.events.length === 0) return page;
    const { progress, timing } = this.dependencies;
    await progress.lull(this.name, GATHER_MS, signal);
    const more = (await pages.hasNextWithin(0, timing)) ? await pages.next() : undefined;
    return more ? { ...more, events: [...page.events, ...more.events] } : page;
  }
}
