import { LRUCache } from 'lru-cache';
import type { Sql } from 'postgres';
import { newId } from '../../../kernel/ids.js';
import { type Subject, UserAccounts, type UserLabel } from './user-accounts.port.js';

/** Size of the cache of user ids. Entries never become stale, because the id of a subject never changes. */
const IDS_MAX = 10_000;

/** The table of users. It is not part of a read model, so a rebuild does not change it, and a backup has to contain it. */
export const USER_ACCOUNT_TABLE = `create table identity.user_account (
  user_id     text primary key,
  issuer      text not null,
  claim       text not null,
  value       text not null,
  email       text,
  name        text,
  picture     text,
  created_at  timestamptz not null default now(),
  unique (issuer, claim, value)
)`;

/** Finds the users with an e-mail address. */
export const EMAIL_INDEX = 'create index user_account_by_email on identity.user_account (lower(email))';

/** The users of this installation, stored in Postgres. */
export class PostgresUserAccounts extends UserAccounts {
  private readonly ids = new LRUCache<string, string>({ max: IDS_MAX });

  constructor(private readonly sql: Sql) {
    super();
  }

  async idOf(subject: Subject): Promise<string> {
    const key = JSON.stringify([subject.issuer, subject.claim, subject.value]);
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const userId = (await this.stored(subject)) ?? (await this.added(subject));
    this.ids.set(key, userId);
    return userId;
  }

  async describe(userId: string, { email, name, picture }: UserLabel): Promise<void> {
    await this.sql`update identity.user_account set email = ${email}, name = ${name}, picture = ${picture}
      where user_id = ${userId} and (email, name, picture) is distinct from (${email}, ${name}, ${picture})`;
  }

  async labelsOf(userIds: readonly string[]): Promise<ReadonlyMap<string, UserLabel>> {
    const rows = await this.sql<({ userId: string } & UserLabel)[]>`
      select user_id as "userId", email, name, picture from identity.user_account
      where user_id = any (${[...userIds]}) and coalesce(email, name, picture) is not null`;
    return new Map(rows.map(({ userId, ...label }) => [userId, label]));
  }

  async find(by: Readonly<{ userId: string } | { email: string }>): Promise<string | undefined> {
    const which = 'userId' in by ? this.sql`user_id = ${by.userId}` : this.sql`lower(email) = lower(${by.email})`;
    const rows = await this.sql<{ userId: string }[]>`
      select user_id as "userId" from identity.user_account where ${which} limit 2`;
    return rows.length === 1 ? rows[0]!.userId : undefined;
  }

  private async stored({ issuer, claim, value }: Subject): Promise<string | undefined> {
    const rows = await this.sql<{ userId: string }[]>`select user_id as "userId" from identity.user_account
      where issuer = ${issuer} and claim = ${claim} and value = ${value}`;
    return rows[0]?.userId;
  }

  /** If several processes add the same subject, one inserts the row and the others read it. */
  private async added(subject: Subject): Promise<string> {
    const rows = await this.sql<{ userId: string }[]>`insert into identity.user_account (user_id, issuer, claim, value)
      values (${newId()}, ${subject.issuer}, ${subject.claim}, ${subject.value})
      on conflict (issuer, claim, value) do nothing returning user_id as "userId"`;
    return rows[0]?.userId ?? (await this.stored(subject))!;
  }
}
