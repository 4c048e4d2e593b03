import type { Sql } from 'postgres';
import { isId, newId } from '../../kernel/ids.js';
import { CredentialsMissing, CredentialsUnreadable, CredentialVault } from './credential-vault.port.js';
import { migrate } from '../postgres/migrate.js';
import { SealBroken } from './seals.port.js';
import { SealingKey } from './sealing-key.js';

const SCHEMA = 'credentials';

const STEPS = [
  `create table credentials.sealed_credential (
    credentials_id  uuid primary key,
    owner_id        text not null,
    sealed          bytea not null,
    kept_at         timestamptz not null default now()
  )`,
] as const;

/** Secrets in Postgres, encrypted with a key that Postgres never has, and bound to their owner and id. */
export class PostgresCredentialVault extends CredentialVault {
  private readonly key: SealingKey;

  constructor(
    private readonly sql: Sql,
    secret: string,
  ) {
    super();
    this.key = new SealingKey(secret);
  }

  async start(): Promise<void> {
    await migrate(this.sql, SCHEMA, STEPS);
  }

  async keep(ownerId: string, secrets: Readonly<Record<string, string>>): Promise<string> {
    const credentialsId = newId();
    const sealed = this.key.seal(JSON.stringify(secrets), [ownerId, credentialsId]);
    await this.sql`insert into credentials.sealed_credential (credentials_id, owner_id, sealed)
      values (${credentialsId}, ${ownerId}, ${sealed})`;
    return credentialsId;
  }

  async reveal(ownerId: string, credentialsId: string): Promise<Readonly<Record<string, string>>> {
    const rows = isId(credentialsId)
      ? await this.sql<{ sealed: Uint8Array }[]>`select sealed from credentials.sealed_credential
          where credentials_id = ${credentialsId} and owner_id = ${ownerId}`
      : [];
    if (!rows[0]) throw new CredentialsMissing('The credentials are gone.');
    try {
      return JSON.parse(this.key.open(rows[0].sealed, [ownerId, credentialsId])) as Record<string, string>;
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      throw new CredentialsUnreadable(`The credentials ${credentialsId} cannot be read. ${error.message}`, { cause: error });
    }
  }

  async delete(ownerId: string, credentialsId: string): Promise<void> {
    if (!isId(credentialsId)) return;
    await this.sql`delete from credentials.sealed_credential where credentials_id = ${credentialsId} and owner_id = ${ownerId}`;
  }
}
