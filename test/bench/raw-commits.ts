import postgres from 'postgres';
import type { MeasuredService } from './measured-service.js';

/** Commits a row of ordinary length: the cost of durability alone on this disk and on the measured server. */
export type RawCommits = Readonly<{
  /** The duration of one commit in milliseconds. */
  commit(): Promise<number>;
  close(): Promise<void>;
}>;

const TEXT = 'x'.repeat(60);

export async function rawCommits({ databaseUrl }: Pick<MeasuredService, 'databaseUrl'>): Promise<RawCommits> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  await sql`create table if not exists public.raw_insert (id bigserial primary key, data text not null)`;
  return {
    commit: async () => {
      const at = performance.now();
      await sql`insert into public.raw_insert (data) values (${TEXT})`;
      return performance.now() - at;
    },
    close: () => sql.end(),
  };
}
