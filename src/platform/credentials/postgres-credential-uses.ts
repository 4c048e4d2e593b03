import type { Sql } from 'postgres';
import { migrate } from '../postgres/migrate.js';
import { type CredentialUse, CredentialUses } from './credential-uses.port.js';

const SCHEMA = 'credential_uses';

const STEPS = [
  `create table credential_uses.last_use (
    credential_id  text primary key,
    used_at        timestamptz not null,
    address        text not null
  )`,
] as const;

/** Stores one row per credential. The table is not a read model, so a rebuild does not change it. */
export class PostgresCredentialUses extends CredentialUses {
  constructor(private readonly sql: Sql) {
    super();
  }

  async start(): Promise<void> {
    await migrate(this.sql, SCHEMA, STEPS);
  }

  async note(credentialId: string, usedAt: Date, address: string): Promise<void> {
    await this.sql`insert into credential_uses.last_use as known (credential_id, used_at, address)
      values (${credentialId}, ${usedAt}, ${address})
      on conflict (credential_id) do update set used_at = excluded.used_at, address = excluded.address
        where known.used_at < excluded.used_at`;
  }

  async of(credentialIds: readonly string[]): Promise<ReadonlyMap<string, CredentialUse>> {
    const rows = await this.sql<{ credential_id: string; used_at: Date; address: string }[]>`
      select credential_id, used_at, address from credential_uses.last_use where credential_id = any (${[...credentialIds]})`;
    return new Map(rows.map(({ credential_id, used_at: usedAt, address }) => [credential_id, { usedAt, address }]));
  }

  async forget(credentialId: string): Promise<void> {
    await this.sql`delete from credential_uses.last_use where credential_id = ${credentialId}`;
  }
}
