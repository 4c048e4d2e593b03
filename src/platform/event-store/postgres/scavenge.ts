import { Logger } from '@nestjs/common';
import type { Sql } from 'postgres';

/** Number of streams that a call checks, and number of events that a transaction deletes. */
const SCAVENGE_STREAMS_MAX = 100;
export const SCAVENGE_EVENTS_MAX = 1_000;

export type Scavenged = Readonly<{ deleted: number; more: boolean }>;

type Query = <T>(run: (sql: Sql) => PromiseLike<T>) => Promise<T>;

/** After how many minutes a stream is due again whose events could not be deleted. */
const RETRY_MINUTES = 5;

/**
 * Deletes events that bounds hide, in the streams that are due. Each transaction is short, and concurrent calls do no harm. A stream
 * whose events cannot be deleted does not keep those of others. @throws the last error of a stream, at the end
 */
export async function scavenge(query: Query): Promise<Scavenged> {
  const due = await query(
    (sql) => sql<{ number: string }[]>`
      select number from event_store.stream where scavenge_at <= now() order by scavenge_at limit ${SCAVENGE_STREAMS_MAX}`,
  );
  let deleted = 0;
  let unfinished = false;
  let failure: Error | undefined;
  for (const { number } of due) {
    try {
      const [row] = await query(
        (sql) => sql<{ deleted: number }[]>`select event_store.scavenge(${number}, ${SCAVENGE_EVENTS_MAX}) as deleted`,
      );
      deleted += row!.deleted;
      unfinished ||= row!.deleted === SCAVENGE_EVENTS_MAX;
    } catch (error) {
      failure = error as Error;
      await query(
        (sql) => sql`
        update event_store.stream set scavenge_at = now() + ${RETRY_MINUTES} * interval '1 minute' where number = ${number}`,
      );
    }
  }
  if (failure) throw failure;
  return { deleted, more: unfinished || due.length === SCAVENGE_STREAMS_MAX };
}

/** The interval between two calls. */
const SCAVENGE_MS = 60_000;
/**
 * The share of the interval within which the first call follows a start, so that a process that is restarted again and again deletes
 * too.
 */
const FIRST_CALL_SHARE = 1 / 6;
/** The pause between two calls while more is due, so that deleting uses only a part of the server's capacity. */
const BREATH_MS = 100;

/** Deletes expired events regularly in the background, until it is stopped. */
export class Scavenger {
  private readonly logger = new Logger(Scavenger.name);
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly run: () => Promise<Scavenged>,
    private readonly everyMs = SCAVENGE_MS,
  ) {}

  start(): void {
    // A random first delay spreads processes that start together.
    this.wait(this.everyMs * FIRST_CALL_SHARE * (0.5 + Math.random() / 2));
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
    try {
      const { more } = await this.run();
      this.wait(more ? BREATH_MS : this.everyMs);
    } catch (error) {
      if (!this.stopped) this.logger.warn(`Not all expired events could be deleted, which is tried again: ${String(error)}`);
      this.wait(this.everyMs);
    }
  }
}
