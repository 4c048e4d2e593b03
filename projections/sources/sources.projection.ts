import { sourceCodec } from '../../src/resources/sources/source/source.codec.js';
import type { SourceEvent } from '../../src/resources/sources/source/source.events.js';
import { defineProjection } from '../projection.js';
import { asJsonb, asText } from '../text.js';

/** Every source that is not deleted, the state of its ingestion and the time of its next sync. */
export const sources = defineProjection<SourceEvent>({
  name: 'sources',
  categories: ['source'],
  codec: sourceCodec,
  ddl: new URL('./sources.sql', import.meta.url),

  on: {
    SourceCreated: ({ data: { sourceId, ownerId, name, config, remote }, at }, sql) => sql`
      insert into source (source_id, owner_id, name, config, remote, created_at)
      values (${sourceId}, ${ownerId}, ${asText(name)}, ${sql.json(asJsonb(config))}, ${remote && sql.json(asJsonb(remote))}, ${at})
      on conflict (source_id) do nothing`,

    SourceConfigured: ({ data: { sourceId, config } }, sql) => sql`
      update source set config = ${sql.json(asJsonb(config))} where source_id = ${sourceId}`,

    SourceIngestRequested: ({ data: { sourceId, ingestId, files } }, sql) => sql`
      update source set ingest_id = ${ingestId}, ingest_status = 'requested', ingest_reason = null, fetched_files = null,
        files = case when remote is null then ${sql.json(asJsonb(files))} else files end
      where source_id = ${sourceId}`,

    SourcePagesFetched: ({ data: { sourceId, files } }, sql) => sql`
      update source set fetched_files = ${sql.json(asJsonb(files))} where source_id = ${sourceId}`,

    SourceArchivesUnpacked: ({ data: { sourceId, files } }, sql) => sql`
      update source set fetched_files = ${sql.json(asJsonb(files))} where source_id = ${sourceId}`,

    SourceIngestStarted: ({ data }, sql) => sql`
      update source set ingest_status = 'started' where source_id = ${data.sourceId}`,

    SourceIngestCompleted: ({ data: { sourceId, chunks, tokens } }, sql) => sql`
      update source set ingest_status = 'completed', ingest_reason = null, chunks = ${chunks}, tokens = ${tokens},
        files = coalesce(fetched_files, files), fetched_files = null
      where source_id = ${sourceId}`,

    SourceIngestFailed: ({ data: { sourceId, reason } }, sql) => sql`
      update source set ingest_status = 'failed', ingest_reason = ${asText(reason)}, fetched_files = null where source_id = ${sourceId}`,

    SourceSyncFrequencySet: ({ data: { sourceId, frequency, nextSyncAt } }, sql) => sql`
      update source set sync_frequency = ${frequency}, next_sync_at = ${nextSyncAt} where source_id = ${sourceId}`,

    SourceSyncDue: ({ data: { sourceId, nextSyncAt } }, sql) => sql`
      update source set next_sync_at = ${nextSyncAt} where source_id = ${sourceId}`,

    SourceDeleted: ({ data }, sql) => sql`delete from source where source_id = ${data.sourceId}`,
  },
});
