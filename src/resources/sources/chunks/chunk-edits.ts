import type { ChunkQueries, ChunkRecord } from '../../../../projections/chunks/chunks.queries.js';
import type { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Embeddings } from '../../models/model/embeddings.port.js';
import { chunkIdOf, chunkNotFound, chunkPlaceIn } from './chunk-id.policy.js';
import { EditChunk, type WantedEdit, type WrittenChunk } from './chunks.commands.js';
import { encodeEmbedding } from './vector-index.js';

/** The time limit for the embedding of a chunk. */
const EMBEDDING_MS = 30_000;
/** An estimate, because the tokenizer runs in the process that reads documents and an edited chunk needs no exact count. */
const CHARACTERS_PER_TOKEN = 4;

export type ChunkText = Readonly<{ text: string; title: string; filename: string }>;

type Edited = Readonly<{ chunkId: string; position: bigint }>;
type Owned = Readonly<{ id: string; ownerId: string }>;

/** Edits the chunks that are searched. An ingestion of the source discards the edits, except a sync of unchanged pages. */
export class ChunkEdits {
  constructor(
    private readonly commands: Commands,
    private readonly queries: ChunkQueries,
    private readonly embeddings: Embeddings | undefined,
  ) {}

  async add(source: Owned, chunk: ChunkText, cause: Cause): Promise<Edited> {
    const chunksId = await this.searched(source);
    if (chunksId === null) throw new Rejection('source-not-ready', 'The source has no chunks yet');
    return this.edited(source, chunksId, { kind: 'add', written: await this.written(chunk) }, cause);
  }

  /** Fields that are left out keep their value. @throws Rejection chunk-not-found */
  async change(source: Owned, chunkId: string, changes: Partial<ChunkText>, cause: Cause): Promise<Edited> {
    const { chunksId, ordinal, text, title, filename } = await this.found(source, chunkId);
    const written = await this.written({ text, title, filename, ...changes });
    return this.edited(source, chunksId, { kind: 'change', ordinal, written }, cause);
  }

  /** @throws Rejection chunk-not-found */
  async remove(source: Owned, chunkId: string, cause: Cause): Promise<Edited> {
    const { chunksId, ordinal } = await this.found(source, chunkId);
    return this.edited(source, chunksId, { kind: 'remove', ordinal }, cause);
  }

  private async edited({ id }: Owned, chunksId: string, edit: WantedEdit, cause: Cause): Promise<Edited> {
    const { ordinal, position } = await this.commands.execute(new EditChunk(chunksId, id, edit, cause));
    return { chunkId: chunkIdOf({ chunksId, ordinal }), position };
  }

  private async found(source: Owned, chunkId: string): Promise<ChunkRecord & Readonly<{ chunksId: string }>> {
    const { chunksId, ordinal } = chunkPlaceIn(chunkId);
    if ((await this.searched(source)) !== chunksId) throw chunkNotFound();
    const [chunk] = await this.queries.records(chunksId, [ordinal]);
    if (!chunk) throw chunkNotFound();
    return { ...chunk, chunksId };
  }

  private async searched({ id, ownerId }: Owned): Promise<string | null> {
    const [source] = await this.queries.sources(ownerId, [id]);
    return source?.liveId ?? null;
  }

  private async written(chunk: ChunkText): Promise<WrittenChunk> {
    const whole = { ...chunk, tokens: Math.ceil(chunk.text.length / CHARACTERS_PER_TOKEN) };
    if (!this.embeddings) return { chunk: whole, embeddingModel: null };
    const texts = [`${chunk.title}\n\n${chunk.text}`];
    const [vector] = await this.embeddings.embed(texts, AbortSignal.timeout(EMBEDDING_MS));
    return { chunk: { ...whole, embedding: encodeEmbedding(vector!) }, embeddingModel: this.embeddings.model };
  }
}
