import { sourceCodec } from '../../src/sources/source.codec.js';
import type { SourceEvent } from '../../src/sources/source.events.js';
import { defineProjection } from '../projection.js';

/** Every source that was not deleted, and how its ingestion stands. */
export const sources = defineProjection<SourceEvent>({
  name: 'sources',
  categories: ['source'],
  codec: sourceCodec,
  ddl: new URL('./sources.sql', import.meta.url),

  on: {
    SourceCreated: ({ data: { sourceId, ownerId, name, config }, at }, sql) => sql`
      insert into source (source_id, owner_id, name, config, created_at)
      values (${sourceId}, ${ownerId}, ${name}, ${sql.json(config)}, ${at})
      on conflict (source_id) do nothing`,

    SourceIngestRequested: ({ data: { sourceId, ingestId, files } }, sql) => sql`
      update source set ingest_id = ${ingestId}, ingest_status = 'requested', files = ${sql.json(files)}
      where source_id = ${sourceId}`,

    SourceIngestStarted: ({ data }, sql) => sql`
      update source set ingest_status = 'started' where source_id = ${data.sourceId}`,

    SourceIngestCompleted: ({ data: { sourceId, chunks, tokens } }, sql) => sql`
      update source set ingest_status = 'completed', ingest_reason = null, chunks = ${chunks}, tokens = ${tokens}
      where source_id = ${sourceId}`,

    SourceIngestFailed: ({ data: { sourceId, reason } }, sql) => sql`
      update source set ingest_status = 'failed', ingest_reason = ${reason} where source_id = ${sourceId}`,

    SourceDeleted: ({ data }, sql) => sql`delete from source where source_id = ${data.sourceId}`,
  },
});
