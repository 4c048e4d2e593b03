import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import type { Pool } from '../../postgres/pool.js';
import { logHead } from './log-pages.js';
import type { WakeUps } from './wake-ups.js';

/** How often followers are compared with the database anyway: a notification may be lost. One statement serves all of them. */
const LOOK_MS = 1_000;
/** Other processes are told of new events at most this often, and not at all once no process was heard for so long. */
const ANNOUNCE_MS = 5;
const SILENCE_MS_MAX = 5_000;
const PRESENCE_MS = 1_000;
const TIMEOUT_MS = 5_000;
const CHANNEL = 'event_store';
/** The server takes less than 8,000 bytes at once. */
const PAYLOAD_BYTES_MAX = 7_900;

/** `streams` have something new; without them, it is more than can be named. `here` only says that somebody is. */
type Announcement = Readonly<{ by: string; here?: true; streams?: readonly string[] }>;

/**
 * Wakes the followers of this process when another has appended, and the other way round. Only ever a hint: the log is the
 * truth. A process that is alone sends nothing: that would cost as much as the append itself.
 */
export class Notifications {
  private readonly id = randomUUID();
  private readonly unannounced = new Set<string>();
  private heardAt = -Infinity;
  private announcing: NodeJS.Timeout | undefined;
  private looking: NodeJS.Timeout | undefined;
  private presence: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly pool: Pool,
    /** Keeps the one connection that listens. */
    private readonly listener: Sql,
    private readonly wakeUps: WakeUps,
    private readonly lookMs = LOOK_MS,
  ) {}

  async start(): Promise<void> {
    await this.listener.listen(
      CHANNEL,
      (payload) => this.hear(JSON.parse(payload) as Announcement),
      // Also after the connection was lost, and with it whatever was told meanwhile.
      () => void this.look(),
    );
    await this.send({ by: this.id, here: true });
    this.presence = setInterval(() => void this.send({ by: this.id, here: true }), PRESENCE_MS).unref();
    this.lookLater();
  }

  /** Tells the other processes, if there are any, soon. */
  tell(streams: Iterable<string>): void {
    if (this.closed || performance.now() - this.heardAt > SILENCE_MS_MAX) return;
    for (const stream of streams) this.unannounced.add(stream);
    if (this.unannounced.size > 0) this.announcing ??= setTimeout(() => void this.announceNow(), ANNOUNCE_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.announcing);
    clearTimeout(this.looking);
    clearInterval(this.presence);
    await this.listener.end({ timeout: 1 });
  }

  private async announceNow(): Promise<void> {
    const streams = [...this.unannounced];
    this.unannounced.clear();
    await this.send({ by: this.id, streams });
    this.announcing = undefined;
    this.tell([]);
  }

  private async send(announced: Announcement): Promise<void> {
    const whole = JSON.stringify(announced);
    const payload =
      Buffer.byteLength(whole) < PAYLOAD_BYTES_MAX ? whole : JSON.stringify({ by: announced.by } satisfies Announcement);
    try {
      // A hint that a crash takes away is missed by nobody, so it waits for no disk.
      const notify = (sql: Sql) => sql`select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, ${payload})`;
      await this.pool.run(notify, TIMEOUT_MS);
    } catch {
      // No one is told; every process polls before long.
    }
  }

  private hear({ by, here, streams }: Announcement): void {
    if (by === this.id) return;
    const isNew = performance.now() - this.heardAt > SILENCE_MS_MAX;
    this.heardAt = performance.now();
    // A process that has just started learns that it is not alone.
    if (isNew) void this.send({ by: this.id, here: true });
    if (streams) this.wakeUps.ring(streams);
    else if (!here) void this.look();
  }

  private lookLater(): void {
    if (this.closed) return;
    this.looking = setTimeout(() => void this.look().finally(() => this.lookLater()), this.lookMs);
  }

  private async look(): Promise<void> {
    if (this.wakeUps.size === 0) return;
    try {
      await this.pool.run(async (sql) => {
        const [head, streams] = await Promise.all([
          logHead(sql),
          sql<{ name: string; revision: number }[]>`
            select name, revision from event_store.stream where name = any(${this.wakeUps.followedStreams})`,
        ]);
        this.wakeUps.compareLog(head);
        for (const { name, revision } of streams) this.wakeUps.compareStream(name, revision);
      }, TIMEOUT_MS);
    } catch {
      // The next look tells; those who read in the meantime see for themselves that the database is away.
    }
  }
}
