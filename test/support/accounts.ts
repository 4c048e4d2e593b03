import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineProjection, insertInto, type Projection } from '../../projections/projection.js';
import type { EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { encodeMetadata } from '../../src/kernel/event-sourcing/codec.js';
import type { Event } from '../../src/kernel/event-sourcing/events.js';
import { deterministicId } from '../../src/kernel/ids.js';

type Opened = Event<'AccountOpened', { account: string; openedAt?: string }>;
type Moved = Event<'MoneyMoved', { account: string; cents: number }>;
type Purged = Event<'AccountPurged', { account: string }>;
type AccountEvent = Opened | Moved | Purged;

const tables = `
  create table account (account text primary key, cents bigint not null check (cents >= 0), opened_at timestamptz not null);
  create table movement (position bigint primary key, account text not null references account, cents integer not null);
  create index movement_of_account on movement (account);
  create index account_by_words on account using gin (to_tsvector('simple', account));
  create unique index account_by_time on account (opened_at, account);
`;

/** A read model that is small enough to check by hand: balances that must not be negative, and an append-only list. */
export function accounts(name = 'accounts', { version = 1, ddl = tables } = {}): Projection {
  const file = join(tmpdir(), `accounts-of-tests-${process.pid}-${deterministicId(ddl).slice(0, 8)}.sql`);
  writeFileSync(file, ddl);
  return defineProjection<AccountEvent>({
    name,
    version,
    categories: ['account'],
    codec: { AccountOpened: [], MoneyMoved: [], AccountPurged: [] },
    ddl: pathToFileURL(file),
    indexesLast: true,
    on: {
      AccountOpened: ({ data, at }, sql) => sql`
        insert into account (account, cents, opened_at) values (${data.account}, 0, ${data.openedAt ?? at})`,
      MoneyMoved: ({ data, position }, sql) => [
        sql`update account set cents = cents + ${data.cents * version} where account = ${data.account}`,
        insertInto('movement', { position: String(position), account: data.account, cents: data.cents }),
      ],
      AccountPurged: ({ data }, sql) => [
        sql`delete from movement where account = ${data.account}`,
        sql`delete from account where account = ${data.account}`,
      ],
    },
  });
}

export const opened = (account: string, openedAt?: string): Opened => ({
  type: 'AccountOpened',
  data: { account, ...(openedAt && { openedAt }) },
});

export const moved = (account: string, cents: number): Moved => ({ type: 'MoneyMoved', data: { account, cents } });

export const purged = (account: string): Purged => ({ type: 'AccountPurged', data: { account } });

const CAUSE = { actor: 'user:ann', credential: 'session-token', correlationId: 'request', causationId: 'request' } as const;

/** Appends to the current end of a stream. */
export async function append(store: EventStore, stream: string, ...events: readonly Event[]): Promise<bigint> {
  let revision = -1;
  for await (const page of store.read(stream)) revision = page.at(-1)!.revision;
  const written = events.map(({ type, data }, index) => ({
    id: deterministicId(stream, revision + 1 + index),
    type,
    data: JSON.stringify(data),
    metadata: encodeMetadata(CAUSE),
  }));
  return (await store.append(stream, revision < 0 ? 'none' : revision, written)).position;
}
