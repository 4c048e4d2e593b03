import postgres from 'postgres';
import type { MeasuredService } from './measured-service.js';

/** A row of ordinary length, committed by itself: what durability alone costs on this disk, on the very server that is measured. */
export type RawCommits = Readonly<{
  /** Milliseconds of one commit. */
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
