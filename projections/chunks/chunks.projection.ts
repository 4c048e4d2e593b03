import { chunksCodec, sourceCodec } from '../../src/resources/sources/source/source.codec.js';
import type { ChunkEdit, SourceChunksIngested, SourceEvent } from '../../src/resources/sources/source/source.events.js';
import { defineProjection } from '../projection.js';
import { asJsonb } from '../text.js';
import { moreWords } from './more-words.js';

/**
 * The chunks of every source for searching. Chunks of a running ingestion are stored too, but searches do not see them until it
 * is complete. Chunks that an abandoned ingestion or a deleted source still writes are not stored.
 */
export const chunks = defineProjection<SourceEvent | SourceChunksIngested | ChunkEdit>({
  name: 'chunks',
  version: 2,
  categories: ['source', 'chunks'],
  codec: { ...sourceCodec, ...chunksCodec },
  ddl: new URL('./chunks.sql', import.meta.url),

  on: {
    SourceCreated: ({ data: { sourceId, ownerId, name, config } }, sql) => sql`
      insert into source (source_id, owner_id, name, own_chunks, status)
      values (${sourceId}, ${ownerId}, ${name}, ${config.retrieval.chunks}, 'ingesting')
      on conflict (source_id) do nothing`,

    SourceConfigured: ({ data: { sourceId, config } }, sql) => sql`
      update source set own_chunks = ${config.retrieval.chunks} where source_id = ${sourceId}`,

    SourceIngestRequested: ({ data }, sql) => sql`update source set status = 'ingesting' where source_id = ${data.sourceId}`,

    SourceIngestStarted: ({ data: { sourceId, chunksId } }, sql) => [
      sql`update source set writing_id = ${chunksId} where source_id = ${sourceId}`,
      sql`delete from chunk using source where chunk.source_id = ${sourceId} and source.source_id = ${sourceId}
        and chunk.chunks_id <> ${chunksId} and chunk.chunks_id is distinct from source.live_id`,
    ],

    SourceChunksIngested: ({ data }, sql) => {
      const rows = data.chunks.map((chunk, index) => ({
        ordinal: data.firstOrdinal + index,
        filename: chunk.filename,
        title: chunk.title,
        text: chunk.text,
        more_words: moreWords(`${chunk.title} ${chunk.text}`),
        tokens: chunk.tokens,
        embedding: chunk.embedding ?? null,
      }));
      return sql`
        insert into chunk (chunks_id, ordinal, source_id, filename, title, text, more_words, tokens, embedding, embedding_model)
        select ${data.chunksId}, ordinal, ${data.sourceId}, filename, title, text, more_words, tokens,
          decode(embedding, 'base64'), ${data.embeddingModel}
        from jsonb_to_recordset(${sql.json(asJsonb(rows))})
          as row (ordinal integer, filename text, title text, text text, more_words text, tokens integer, embedding text)
        where exists (select from source where source_id = ${data.sourceId} and writing_id = ${data.chunksId})
        on conflict (chunks_id, ordinal) do nothing`;
    },

    // An edit of chunks that a later ingestion has replaced matches no row.
    SourceChunkAdded: ({ data: { chunksId, sourceId, ordinal, embeddingModel, chunk } }, sql) => sql`
      with added as (
        insert into chunk (chunks_id, ordinal, source_id, filename, title, text, more_words, tokens, embedding, embedding_model)
        select ${chunksId}, ${ordinal}, ${sourceId}, ${chunk.filename}, ${chunk.title}, ${chunk.text},
          ${moreWords(`${chunk.title} ${chunk.text}`)}, ${chunk.tokens}, decode(${chunk.embedding ?? null}::text, 'base64'), ${embeddingModel}
        where exists (select from source where source_id = ${sourceId} and live_id = ${chunksId})
        on conflict (chunks_id, ordinal) do nothing returning 1
      )
      update source set live_chunks = live_chunks + (select count(*) from added), edits = edits + 1
      where source_id = ${sourceId} and live_id = ${chunksId}`,

    SourceChunkChanged: ({ data: { chunksId, sourceId, ordinal, embeddingModel, chunk } }, sql) => [
      sql`update chunk set filename = ${chunk.filename}, title = ${chunk.title}, text = ${chunk.text},
          more_words = ${moreWords(`${chunk.title} ${chunk.text}`)}, tokens = ${chunk.tokens},
          embedding = decode(${chunk.embedding ?? null}::text, 'base64'), embedding_model = ${embeddingModel}
        where chunks_id = ${chunksId} and ordinal = ${ordinal}`,
      sql`update source set edits = edits + 1 where source_id = ${sourceId} and live_id = ${chunksId}`,
    ],

    SourceChunkRemoved: ({ data: { chunksId, sourceId, ordinal } }, sql) => sql`
      with gone as (delete from chunk where chunks_id = ${chunksId} and ordinal = ${ordinal} returning 1)
      update source set live_chunks = live_chunks - (select count(*) from gone), edits = edits + 1
      where source_id = ${sourceId} and live_id = ${chunksId}`,

    SourceIngestCompleted: ({ data }, sql) => [
      // Chunks that are already live keep their edits.
      sql`update source set live_id = ${data.chunksId}, live_chunks = ${data.chunks}, edits = 0
        where source_id = ${data.sourceId} and live_id is distinct from ${data.chunksId}`,
      sql`update source set writing_id = null, status = 'ready' where source_id = ${data.sourceId}`,
      sql`delete from chunk where source_id = ${data.sourceId} and chunks_id <> ${data.chunksId}`,
    ],

    SourceIngestFailed: ({ data: { sourceId } }, sql) => [
      sql`delete from chunk using source where chunk.source_id = ${sourceId} and source.source_id = ${sourceId}
        and chunk.chunks_id is distinct from source.live_id`,
      sql`update source set writing_id = null, status = 'failed' where source_id = ${sourceId}`,
    ],

    SourceDeleted: ({ data }, sql) => [
      sql`delete from chunk where source_id = ${data.sourceId}`,
      sql`delete from source where source_id = ${data.sourceId}`,
    ],
  },
});
