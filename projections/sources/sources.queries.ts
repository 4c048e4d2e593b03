import { Injectable } from '@nestjs/common';
import type { Row } from 'postgres';
import type { SourceConfig } from '../../src/sources/source-config.policy.js';
import type { SourceFile } from '../../src/sources/source.events.js';
import { ReadModels } from '../read-models.js';

export type IngestStatus = 'requested' | 'started' | 'completed' | 'failed';

export type SourceRecord = Readonly<{
  id: string;
  ownerId: string;
  name: string;
  config: SourceConfig;
  files: readonly SourceFile[];
  ingestId: string | null;
  ingestStatus: IngestStatus;
  ingestReason: string | null;
  chunks: number;
  tokens: number;
  createdAt: Date;
}>;

export type SourceOrder = Readonly<{ by: 'date' | 'name' | 'tokens'; descending: boolean }>;

@Injectable()
export class SourceQueries {
  constructor(private readonly readModels: ReadModels) {}

  async byId(sourceId: string): Promise<SourceRecord | undefined> {
    const rows = await this.sql`select * from sources.source where source_id = ${sourceId}`;
    return rows.map(asRecord)[0];
  }

  async byIngest(ingestId: string): Promise<SourceRecord | undefined> {
    const rows = await this.sql`select * from sources.source where ingest_id = ${ingestId}`;
    return rows.map(asRecord)[0];
  }

  /** A user's own sources, newest first. */
  async ownedBy(ownerId: string): Promise<readonly SourceRecord[]> {
    const rows = await this.sql`select * from sources.source where owner_id = ${ownerId} order by created_at desc, source_id`;
    return rows.map(asRecord);
  }

  /** Which of these there are, and are the user's. */
  async ownedAmong(ownerId: string, ids: readonly string[]): Promise<readonly string[]> {
    const rows = await this.sql`
      select source_id from sources.source where owner_id = ${ownerId} and source_id = any (${ids as string[]}::text[])`;
    return rows.map((row) => row['source_id'] as string);
  }

  /** One page of a user's sources whose name contains a text, whatever the case, and how many there are in all. */
  async page(ownerId: string, search: string, order: SourceOrder, limit: number, offset: number) {
    const { sql } = this;
    const which = sql`owner_id = ${ownerId} and strpos(lower(name), lower(${search})) > 0`;
    const by = { date: sql`created_at`, name: sql`lower(name)`, tokens: sql`tokens` }[order.by];
    const direction = order.descending ? sql`desc` : sql`asc`;
    const [count] = await sql<{ total: number }[]>`select count(*)::integer as total from sources.source where ${which}`;
    const rows = await sql`
      select * from sources.source where ${which} order by ${by} ${direction}, source_id limit ${limit} offset ${offset}`;
    return { total: count?.total ?? 0, records: rows.map(asRecord) };
  }

  private get sql() {
    return this.readModels.sql;
  }
}

const asRecord = (row: Row): SourceRecord => ({
  id: row['source_id'] as string,
  ownerId: row['owner_id'] as string,
  name: row['name'] as string,
  config: row['config'] as SourceConfig,
  files: row['files'] as readonly SourceFile[],
  ingestId: row['ingest_id'] as string | null,
  ingestStatus: row['ingest_status'] as IngestStatus,
  ingestReason: row['ingest_reason'] as string | null,
  chunks: row['chunks'] as number,
  tokens: Number(row['tokens']),
  createdAt: row['created_at'] as Date,
});
