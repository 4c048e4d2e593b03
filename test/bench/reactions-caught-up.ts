import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';

const LOOK_EVERY_MS = 500;

/** Resolves once all reactions have handled the present log, because their remaining work would be measured too. */
export async function reactionsCaughtUp(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  try {
    const [log] = await sql<{ head: string }[]>`select max(position)::text as head from event_store.event`;
    const behind = () => sql`select reaction from reactions.reaction_checkpoint where position < ${log!.head}`;
    while ((await behind()).length > 0) await pause(LOOK_EVERY_MS);
  } finally {
    await sql.end();
  }
}
