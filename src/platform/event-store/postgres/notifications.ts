import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import type { Pool } from '../../postgres/pool.js';
import { logHead } from './log-pages.js';
import type { WakeUps } from './wake-ups.js';

/**
 * The interval at which followers are compared with the database, because notifications may be lost. One statement serves all.
 */
const POLL_MS = 1_000;
/** The minimum interval between announcements, and the time without a sign of other processes after which none are sent. */
const ANNOUNCE_MS = 5;
export const SILENCE_MS_MAX = 5_000;
/** The interval of the signs of this process. Two fit into that time, so one may be lost. */
const PRESENCE_MS = 2_000;
const TIMEOUT_MS = 5_000;
const CHANNEL = 'event_store';

/** The log has new events. `here` only announces the process. */
type Announcement = Readonly<{ by: string; here?: true }>;

/**
 * Wakes followers of this process after appends of other processes, and the reverse. Notifications are hints that may be lost. A
 * process that is alone sends none, because one costs as much as an append.
 */
export class Notifications {
  private readonly id = randomUUID();
  private isUnannounced = false;
  private heardAt = -Infinity;
  private announcing: NodeJS.Timeout | undefined;
  private polling: NodeJS.Timeout | undefined;
  private presence: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly pool: Pool,
    /** Holds the connection that listens. */
    private readonly listener: Sql,
    private readonly wakeUps: WakeUps,
    private readonly pollMs = POLL_MS,
  ) {}

  async start(): Promise<void> {
    await this.listener.listen(
      CHANNEL,
      (payload) => this.hear(JSON.parse(payload) as Announcement),
      // Also called after a reconnect: notifications in between were lost.
      () => void this.poll(),
    );
    await this.send({ by: this.id, here: true });
    this.presence = setInterval(() => void this.send({ by: this.id, here: true }), PRESENCE_MS).unref();
    this.pollLater();
  }

  /** Announces new events to the other processes, if there are any, within ANNOUNCE_MS. */
  announce(): void {
    if (this.closed || performance.now() - this.heardAt > SILENCE_MS_MAX) return;
    this.isUnannounced = true;
    this.announcing ??= setTimeout(() => void this.announceNow(), ANNOUNCE_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.announcing);
    clearTimeout(this.polling);
    clearInterval(this.presence);
    await this.listener.end({ timeout: 1 });
  }

  private async announceNow(): Promise<void> {
    this.isUnannounced = false;
    await this.send({ by: this.id });
    this.announcing = undefined;
    if (this.isUnannounced) this.announce();
  }

  private async send(announced: Announcement): Promise<void> {
    const payload = JSON.stringify(announced);
    try {
      // Losing a hint in a crash does no harm, so it does not wait for the disk.
      const notify = (sql: Sql) => sql`select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, ${payload})`;
      await this.pool.run(notify, TIMEOUT_MS);
    } catch {
      // The announcement is lost. Every process polls soon.
    }
  }

  private hear({ by, here }: Announcement): void {
    if (by === this.id) return;
    const isNew = performance.now() - this.heardAt > SILENCE_MS_MAX;
    this.heardAt = performance.now();
    // Announces this process to the one that has just started.
    if (isNew) void this.send({ by: this.id, here: true });
    if (!here) this.wakeUps.ringAll();
  }

  private pollLater(): void {
    if (this.closed) return;
    this.polling = setTimeout(() => void this.poll().finally(() => this.pollLater()), this.pollMs);
  }

  private async poll(): Promise<void> {
    if (this.wakeUps.size === 0) return;
    try {
      this.wakeUps.compare(await this.pool.run(logHead, TIMEOUT_MS));
    } catch {
      // The next poll retries. Callers that read in the meantime notice the outage themselves.
    }
  }
}
