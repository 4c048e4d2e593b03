import type { Sql } from 'postgres';
import type { EventStore, LogFilter, LogPage } from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { Pages } from '../supervision/pages.js';
import type { Progress } from './progress.js';
import type { ProjectionWriter } from './projection-writer.js';
import { writeTogether } from './shared-transaction.js';

/**
 * What happens this close together is written together, unless somebody waits for it. A question and its answer are bursts
 * of events: each written as it came, read models took half of what a question costs, and just when it is to be answered.
 */
const GATHER_MS = 20;
/** How long a checkpoint may stay behind a stretch that holds nothing for its projection. */
const IDLE_CHECKPOINT_MS = 2_000;
/** How long a transaction waits for a rebuild that holds one of its projections still, before each projection goes alone. */
const LOCK_MS_MAX = 100;

type Dependencies = Readonly<{ sql: Sql; store: EventStore; progress: Progress; timing: Timing }>;

/** A projection that is up to date, until it leaves. */
type Member = Readonly<{ writer: ProjectionWriter; leave: () => void; fail: (error: unknown) => void }>;

/**
 * The projections of this process that are up to date: the log is read once for all of them, each event is decoded once,
 * and a stretch of the log is one transaction, however many read models it changes. When such a transaction fails, nothing
 * has changed, and each of its projections goes on alone, which finds out whose fault it is; then they come back.
 */
export class LiveGroup {
  private readonly members = new Set<Member>();
  /** How far the log was taken; what a new member has to have considered. */
  private position = -1n;
  private writing: Promise<void> = Promise.resolve();
  private stop = new AbortController();

  constructor(
    private readonly dependencies: Dependencies,
    private readonly filter: LogFilter,
  ) {}

  /**
   * Keeps a projection up to date; resolves once it has to go on alone or `signal` aborts, when nothing of it is under way any
   * more. @throws what ends the following of the log
   */
  async keepUp(writer: ProjectionWriter, signal: AbortSignal): Promise<void> {
    if (signal.aborted || (this.members.size > 0 && writer.considered < this.position)) return;
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

  /** A page with what has come right after it. */
  private async gathered(page: LogPage, pages: Pages<LogPage>, signal: AbortSignal): Promise<LogPage> {
    if (!page.caughtUp || page.events.length === 0) return page;
    const { progress, timing } = this.dependencies;
    await progress.lull(
      [...this.members].map(({ writer }) => writer.name),
      GATHER_MS,
      signal,
    );
    const more = (await pages.hasNextWithin(0, timing)) ? await pages.next() : undefined;
    return more ? { ...more, events: [...page.events, ...more.events] } : page;
  }

  /** `movesAll`: also the checkpoints of those for which there is nothing. */
  private async write({ events, position }: LogPage, movesAll: boolean): Promise<void> {
    const { sql, progress } = this.dependencies;
    const members = [...this.members];
    const parts = members
      .map((member) => ({ member, own: member.writer.ownOf({ events }) }))
      .filter(({ member: { writer }, own }) => own.length > 0 || (movesAll && writer.position < position));
    try {
      const portions = parts.map(({ member, own }) => member.writer.portion(position, own));
      if (portions.length > 0) await writeTogether(sql, portions, LOCK_MS_MAX);
    } catch {
      // Nothing has changed. What went wrong is found by each of them alone.
      for (const { member } of parts) member.leave();
    }
    const changed = new Set(parts.filter(({ own }) => own.length > 0).map(({ member }) => member));
    for (const member of members) {
      if (!this.members.has(member) && parts.some((part) => part.member === member)) continue;
      const { writer } = member;
      writer.pass(position);
      progress.wrote(writer.name, position, changed.has(member));
    }
  }
}
