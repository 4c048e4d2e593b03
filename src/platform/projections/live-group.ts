import type { Sql } from 'postgres';
import type { EventStore, LogFilter, LogPage } from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { Pages } from '../supervision/pages.js';
import type { Progress } from './progress.js';
import type { ProjectionWriter } from './projection-writer.js';
import { writeTogether } from './shared-transaction.js';

/**
 * Events within this time are written together, unless a caller waits for them. A question and its answer are bursts of events.
 * Written one by one, read models took half of the cost of a question, at the moment when it was being answered.
 */
const GATHER_MS = 20;
/** How long a checkpoint may lag while the log has no events for its projection. */
const IDLE_CHECKPOINT_MS = 2_000;
/** How long a shared transaction waits for a rebuild that blocks one projection. After that each projection writes alone. */
const LOCK_MS_MAX = 100;

type Dependencies = Readonly<{ sql: Sql; store: EventStore; progress: Progress; timing: Timing }>;

/** A projection of the group. */
type Member = Readonly<{ writer: ProjectionWriter; leave: () => void; fail: (error: unknown) => void }>;

/**
 * The up-to-date projections of this process. The log is read once for all of them, each event is decoded once, and a page is one
 * transaction for all read models. A failed transaction changes nothing: each of its projections then continues alone, which
 * finds the faulty one, and rejoins the group.
 */
export class LiveGroup {
  private readonly members = new Set<Member>();
  /** The position that the group has reached. A new member must have reached it too. */
  private position = -1n;
  private writing: Promise<void> = Promise.resolve();
  private stop = new AbortController();

  constructor(
    private readonly dependencies: Dependencies,
    private readonly filter: LogFilter,
  ) {}

  /** Whether a projection has come as far as the group. */
  takes({ considered }: ProjectionWriter): boolean {
    return this.members.size === 0 || considered >= this.position;
  }

  /**
   * Keeps a projection up to date. Resolves when the projection has to continue alone or `signal` aborts, after its last write.
   * @throws the error that ended following the log
   */
  async keepUp(writer: ProjectionWriter, signal: AbortSignal): Promise<void> {
    if (signal.aborted || !this.takes(writer)) return;
    let cancel = (): void => undefined;
    const left = new Promise<void>((resolve, reject) => {
      const member: Member = { writer, leave: () => this.remove(member, resolve), fail: reject };
      cancel = member.leave;
      this.add(member);
    });
    signal.addEventListener('abort', cancel);
    try {
      await left;
    } finally {
      signal.removeEventListener('abort', cancel);
      await this.writing;
    }
  }

  private add(member: Member): void {
    this.members.add(member);
    if (this.members.size > 1) return;
    this.position = member.writer.considered;
    const stop = (this.stop = new AbortController());
    this.run(stop).catch((error: unknown) => {
      stop.abort();
      // Without members the group stops this run, and new members may have begun another.
      if (this.stop !== stop) return;
      for (const { fail } of this.members) fail(error);
      this.members.clear();
    });
  }

  private remove(member: Member, left: () => void): void {
    if (this.members.delete(member) && this.members.size === 0) this.stop.abort();
    left();
  }

  private async run(stop: AbortController): Promise<void> {
    const { store, timing } = this.dependencies;
    const { signal } = stop;
    const source = store.followAll(this.position, this.filter, signal);
    const pages = new Pages(
      source,
      () => stop.abort(),
      ({ caughtUp }) => !caughtUp,
    );
    try {
      for (let movedAllAt = timing.elapsedMs(); !signal.aborted;) {
        const page = (await pages.hasNextWithin(IDLE_CHECKPOINT_MS, timing)) ? await pages.next() : this.silence();
        const taken = page && (await this.gathered(page, pages, signal));
        if (!taken || signal.aborted) return;
        const movesAll = timing.elapsedMs() - movedAllAt >= IDLE_CHECKPOINT_MS;
        if (movesAll) movedAllAt = timing.elapsedMs();
        this.position = taken.position;
        await (this.writing = this.write(taken, movesAll));
      }
    } finally {
      await pages.close();
    }
  }

  private silence(): LogPage {
    return { events: [], position: this.position, caughtUp: true };
  }

  /** A page, merged with the pages that arrive within GATHER_MS. */
  private async gathered(page: LogPage, pages: Pages<LogPage>, signal: AbortSignal): Promise<LogPage> {
    if (!page.caughtUp || page.events.length === 0) return page;
    const { progress, timing } = this.dependencies;
    await progress.batchingPause(
      [...this.members].map(({ writer }) => writer.name),
      GATHER_MS,
      signal,
    );
    const more = (await pages.hasNextWithin(0, timing)) ? await pages.next() : undefined;
    return more ? { ...more, events: [...page.events, ...more.events] } : page;
  }

  /** @param movesAll whether the checkpoints of projections without events move too */
  private async write({ events, position }: LogPage, movesAll: boolean): Promise<void> {
    const { sql, progress } = this.dependencies;
    const members = [...this.members];
    const parts = members
      .map((member) => ({ member, own: member.writer.ownOf({ events }) }))
      .filter(({ member: { writer }, own }) => own.length > 0 || (movesAll && writer.position < position));
    const failed = new Set<Member>();
    try {
      const portions = parts.map(({ member, own }) => member.writer.portion(position, own));
      if (portions.length > 0) await writeTogether(sql, portions, LOCK_MS_MAX);
    } catch {
      // The transaction changed nothing. Each projection finds the error alone.
      for (const { member } of parts) failed.add(member);
    }
    const changed = new Set(parts.filter(({ own }) => own.length > 0).map(({ member }) => member));
    for (const member of members) {
      if (failed.has(member)) {
        member.leave();
        continue;
      }
      const { writer } = member;
      writer.pass(position);
      // A member that has joined may be ahead of the group.
      progress.wrote(writer.name, writer.considered, changed.has(member));
    }
  }
}
