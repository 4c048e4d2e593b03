import type { Sql } from 'postgres';

/** How many streams one call looks at, and how many events one transaction deletes. */
export const SCAVENGE_STREAMS_MAX = 100;
export const SCAVENGE_EVENTS_MAX = 1_000;

export type Scavenged = Readonly<{ deleted: number; more: boolean }>;

/** Deletes what the bounds of the streams that are due hide already. Each transaction is short; two at once do no harm. */
export async function scavenge(sql: Sql): Promise<Scavenged> {
  const due = await sql<{ number: string }[]>`
    select number from event_store.stream where scavenge_at <= now() order by scavenge_at limit ${SCAVENGE_STREAMS_MAX}`;
  let deleted = 0;
  let unfinished = false;
  for (const { number } of due) {
    const [row] = await sql<{ deleted: number }[]>`select event_store.scavenge(${number}, ${SCAVENGE_EVENTS_MAX}) as deleted`;
    deleted += row!.deleted;
    unfinished ||= row!.deleted === SCAVENGE_EVENTS_MAX;
  }
  return { deleted, more: unfinished || due.length === SCAVENGE_STREAMS_MAX };
}
