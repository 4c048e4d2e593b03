import type { SourceConfig } from '../../src/resources/sources/source/source-config.policy.js';
import type { RemoteOrigin, SourceFile } from '../../src/resources/sources/source/source.events.js';
import type { SyncFrequency } from '../../src/resources/sources/source/sync.policy.js';
import { Queries } from '../read-models.js';

export type IngestStatus = 'requested' | 'started' | 'completed' | 'failed';

export type SourceRecord = Readonly<{
  id: string;
  ownerId: string;
  name: string;
  config: SourceConfig;
  /** Null for a source of uploaded files. */
  remote: RemoteOrigin | null;
  files: readonly SourceFile[];
  ingestId: string | null;
  ingestStatus: IngestStatus;
  ingestReason: string | null;
  chunks: number;
  tokens: number;
  syncFrequency: SyncFrequency;
  createdAt: Date;
}>;

/** A source that is synced regularly, with the time of its next sync. */
export type SourceSync = Readonly<{ sourceId: string; name: string; frequency: SyncFrequency; nextSyncAt: Date }>;

export type DueSync = Readonly<{ sourceId: string; nextSyncAt: Date }>;

export type SourceOrder = Readonly<{ by: 'date' | 'name' | 'tokens'; descending: boolean }>;

export class SourceQueries extends Queries {
  async byId(sourceId: string): Promise<SourceRecord | undefined> {
    const [row] = await this.sql<SourceRecord[]>`select ${this.columns} from sources.source where source_id = ${sourceId}`;
    return row;
  }

  async byIngest(ingestId: string): Promise<SourceRecord | undefined> {
    const [row] = await this.sql<SourceRecord[]>`select ${this.columns} from sources.source where ingest_id = ${ingestId}`;
    return row;
  }

  /** A user's own sources, newest first. */
  async ownedBy(ownerId: string): Promise<readonly SourceRecord[]> {
    return this.sql<
      SourceRecord[]
    >`select ${this.columns} from sources.source where owner_id = ${ownerId} order by created_at desc, source_id`;
  }

  /** The sources with these ids that exist, newest first. */
  async among(ids: readonly string[]): Promise<readonly SourceRecord[]> {
    if (ids.length === 0) return [];
    return this.sql<
      SourceRecord[]
    >`select ${this.columns} from sources.source where source_id = any (${ids as string[]}::text[]) order by created_at desc, source_id`;
  }

  /** The ids among these that are sources of the user. */
  async ownedAmong(ownerId: string, ids: readonly string[]): Promise<readonly string[]> {
    const rows = await this.sql`
      select source_id from sources.source where owner_id = ${ownerId} and source_id = any (${ids as string[]}::text[])`;
    return rows.map((row) => row['source_id'] as string);
  }

  /**
   * One page of a user's sources, and of those with the ids `held`, whose name contains a text in any case, and the total number.
   */
  async page(ownerId: string, held: readonly string[], search: string, order: SourceOrder, limit: number, offset: number) {
    const { sql } = this;
    const theirs = sql`(owner_id = ${ownerId} or source_id = any (${held as string[]}::text[]))`;
    const which = sql`${theirs} and strpos(lower(name), lower(${search})) > 0`;
    const by = { date: sql`created_at`, name: sql`lower(name)`, tokens: sql`tokens` }[order.by];
    const direction = order.descending ? sql`desc` : sql`asc`;
    const [count] = await sql<{ total: number }[]>`select count(*)::integer as total from sources.source where ${which}`;
    const records = await sql<SourceRecord[]>`
      select ${this.columns} from sources.source where ${which} order by ${by} ${direction}, source_id limit ${limit} offset ${offset}`;
    return { total: count?.total ?? 0, records };
  }

  /** The next syncs of a user's sources, the soonest first. */
  async syncsOf(ownerId: string): Promise<readonly SourceSync[]> {
    return this.sql<SourceSync[]>`
      select source_id as "sourceId", name, sync_frequency as frequency, next_sync_at as "nextSyncAt" from sources.source
      where owner_id = ${ownerId} and next_sync_at is not null order by next_sync_at, source_id`;
  }

  /** Sources of all users that are due for a sync, the longest waiting first. */
  async dueForSync(now: Date, limit: number): Promise<readonly DueSync[]> {
    return this.sql<DueSync[]>`
      select source_id as "sourceId", next_sync_at as "nextSyncAt" from sources.source
      where next_sync_at <= ${now} order by next_sync_at, source_id limit ${limit}`;
  }

  private get columns() {
    return this.sql`source_id as id, owner_id as "ownerId", name, config, remote, files, ingest_id as "ingestId",
      ingest_status as "ingestStatus", ingest_reason as "ingestReason", chunks, tokens::float8 as tokens,
      sync_frequency as "syncFrequency", created_at as "createdAt"`;
  }
}
