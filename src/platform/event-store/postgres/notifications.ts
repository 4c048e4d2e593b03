import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import type { Pool } from '../../postgres/pool.js';
import { logHead } from './log-pages.js';
import type { WakeUps } from './wake-ups.js';

/** How often followers are compared with the database anyway: a notification may be lost. One statement serves all of them. */
export const LOOK_MS = 1_000;
const LOOK_TIMEOUT_MS = 5_000;
/** Other processes are told of new events at most this often. */
export const TELL_MS = 5;
const CHANNEL = 'event_store';
/** The server takes less than 8,000 bytes at once. */
const PAYLOAD_BYTES_MAX = 7_900;

type Told = Readonly<{ by: string; streams?: readonly string[] }>;

/** Wakes the followers of this process when another has appended, and the other way round. Only ever a hint: the log is the truth. */
export class Notifications {
  private readonly id = randomUUID();
  private readonly untold = new Set<string>();
  private telling: NodeJS.Timeout | undefined;
  private looking: NodeJS.Timeout | undefined;
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
      (payload) => this.hear(payload),
      // Also after the connection was lost, and with it whatever was told meanwhile.
      () => void this.look(),
    );
    this.lookLater();
  }

  /** Tells the other processes, soon. */
  tell(streams: Iterable<string>): void {
    for (const stream of streams) this.untold.add(stream);
    if (this.closed || this.untold.size === 0) return;
    this.telling ??= setTimeout(() => void this.tellNow(), TELL_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.telling);
    clearTimeout(this.looking);
    await this.listener.end({ timeout: 1 });
  }

  private async tellNow(): Promise<void> {
    const streams = [...this.untold];
    this.untold.clear();
    const listed = JSON.stringify({ by: this.id, streams } satisfies Told);
    const payload = Buffer.byteLength(listed) < PAYLOAD_BYTES_MAX ? listed : JSON.stringify({ by: this.id } satisfies Told);
    try {
      await this.pool.run((sql) => sql`select pg_notify(${CHANNEL}, ${payload})`, LOOK_TIMEOUT_MS);
    } catch {
      // Nobody is told; everybody looks by themselves before long.
    }
    this.telling = undefined;
    this.tell([]);
  }

  private hear(payload: string): void {
    const { by, streams } = JSON.parse(payload) as Told;
    if (by === this.id) return;
    if (streams) this.wakeUps.ring(streams);
    else void this.look();
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
      }, LOOK_TIMEOUT_MS);
    } catch {
      // The next look tells; those who read in the meantime see for themselves that the database is away.
    }
  }
}
