import type { Sql } from 'postgres';

/** How many streams one call looks at, and how many events one transaction deletes. */
const SCAVENGE_STREAMS_MAX = 100;
export const SCAVENGE_EVENTS_MAX = 1_000;

export type Scavenged = Readonly<{ deleted: number; more: boolean }>;

type Query = <T>(run: (sql: Sql) => PromiseLike<T>) => Promise<T>;

/** Deletes what the bounds of the streams that are due hide already. Each transaction is short; two at once do no harm. */
export async function scavenge(query: Query): Promise<Scavenged> {
  const due = await query(
    (sql) => sql<{ number: string }[]>`
      select number from event_store.stream where scavenge_at <= now() order by scavenge_at limit ${SCAVENGE_STREAMS_MAX}`,
  );
  let deleted = 0;
  let unfinished = false;
  for (const { number } of due) {
    const [row] = await query(
      (sql) => sql<{ deleted: number }[]>`select event_store.scavenge(${number}, ${SCAVENGE_EVENTS_MAX}) as deleted`,
    );
    deleted += row!.deleted;
    unfinished ||= row!.deleted === SCAVENGE_EVENTS_MAX;
  }
  return { deleted, more: unfinished || due.length === SCAVENGE_STREAMS_MAX };
}

/** How often what is due is deleted. */
const SCAVENGE_MS = 60_000;
/** Between two calls while there is more, so that deleting never takes more than a part of the server. */
const BREATH_MS = 100;

/** Deletes now and then, in the background, until it is stopped. */
export class Scavenger {
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly run: () => Promise<Scavenged>,
    private readonly everyMs = SCAVENGE_MS,
  ) {}

  start(): void {
    // Several processes that start together need not do this together.
    this.wait(this.everyMs * (0.5 + Math.random() / 2));
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private wait(ms: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => void this.work(), ms).unref();
  }

  private async work(): Promise<void> {
    // Should the database be away, what is due stays due.
    const { more } = await this.run().catch(() => ({ more: false }));
    this.wait(more ? BREATH_MS : this.everyMs);
  }
}
