import type { ISql } from 'postgres';
import type { NewEvent } from '../../src/kernel/event-sourcing/event-store.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { type TestDatabase, testDatabase } from './postgres-for-tests.js';

/** Longer than any test, so that a store neither polls nor scavenges by itself. */
export const NEVER_MS = 3_600_000;

/** Event stores over one database: one for all tests of a file, and others that act as further processes. */
export class PostgresStores {
  readonly store: PostgresEventStore;
  /** Stores that are closed after each test. */
  readonly others: PostgresEventStore[] = [];

  private constructor(readonly database: TestDatabase) {
    this.store = new PostgresEventStore({ url: database.url, scavengeMs: NEVER_MS });
  }

  static async started(): Promise<PostgresStores> {
    const stores = new PostgresStores(await testDatabase());
    await stores.store.start();
    return stores;
  }

  /** A store that acts as another process: it has separate connections and shares no memory. */
  async openAnother(pollMs?: number): Promise<PostgresEventStore> {
    const another = new PostgresEventStore({ url: this.database.url, scavengeMs: NEVER_MS, ...(pollMs && { pollMs }) });
    this.others.push(another);
    await another.start();
    return another;
  }

  async closeOthers(): Promise<void> {
    await Promise.all(this.others.splice(0).map((other) => other.close()));
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.database.close();
  }

  /** Appends without the store, so that no follower is notified. */
  appendStatement(stream: string, revision: number, { id, type, data, metadata }: NewEvent, sql: ISql = this.database.sql) {
    return sql<{ position: string }[]>`
      select log_position as position from event_store.append(${[stream]}::text[], ${[revision - 1]}::integer[], ${[1]}::integer[],
        ${[1]}::integer[], ${[revision]}::integer[], ${[id]}::uuid[], ${[type]}::text[], ${[data]}::text[], ${[metadata]}::text[])`;
  }

  /** How many statements wait for a lock. */
  async waitingForLock(doing = 'event_store.append'): Promise<number> {
    const [row] = await this.database.sql<{ waiting: number }[]>`
      select count(*)::integer as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${doing}%`} and pid <> pg_backend_pid()`;
    return row!.waiting;
  }
}
