import { buffer } from 'node:stream/consumers';
import type { Blobs } from '../kernel/blobs.js';
import type { EventStore } from '../kernel/event-store.js';
import type { Cause } from '../kernel/events.js';
import type { Freshness } from '../kernel/freshness.js';
import { deterministicId } from '../kernel/ids.js';
import { Rejection } from '../kernel/rejection.js';
import type { Streams } from '../kernel/streams.js';
import { type TaskAttempt, TaskRunner } from '../tasks/task-runner.port.js';
import { ChunkWriter } from './chunk-writer.js';
import { CHUNKING_VERSION } from './chunking.policy.js';
import { type Chunk, type Documents, extensionOf } from './document.port.js';
import type { Embeddings } from './embeddings.port.js';
import { completeIngest, failIngest, source, startIngest } from './source.decider.js';
import { type SourceFile, sourceStream } from './source.events.js';

export const INGEST_SOURCE = 'ingest-source';

/** Clients ask for results in the shape they know from before. */
export type IngestResult = Readonly<{
  directory: string;
  formats: readonly string[];
  name_job: string;
  filename: string;
  user: string;
  limited: false;
}>;

/** How often one waits for the read model to have come so far that what was ingested is found; each wait is bounded itself. */
const SEARCHABLE_WAITS_MAX = 20;

/** Whether the newest chunks of a source are what searches find. */
export type Searchable = (sourceId: string, chunksId: string) => Promise<boolean>;

/**
 * Makes the files of a source searchable. Steps: say where the chunks go; write the chunks file by file; say that they
 * are what is searched now; wait until they are found, so that a task which succeeded is one whose source answers. A crash after any of them repeats none: the next attempt asks the streams what is there.
 */
export class IngestSource extends TaskRunner {
  readonly kind = INGEST_SOURCE;

  constructor(
    private readonly parts: Readonly<{
      store: EventStore;
      streams: Streams;
      blobs: Blobs;
      documents: Documents;
      embeddings: Embeddings | undefined;
      freshness: Freshness;
      isSearchable: Searchable;
    }>,
  ) {
    super();
  }

  async run(attempt: TaskAttempt): Promise<IngestResult> {
    const { taskId: ingestId, cause, signal } = attempt;
    const { streams, embeddings } = this.parts;
    const sourceId = sourceIdIn(attempt.input);
    const chunksId = deterministicId(ingestId, CHUNKING_VERSION, embeddings?.model ?? '');
    const stream = sourceStream(sourceId);
    const { state, position } = await streams.transact(stream, source, startIngest(sourceId, ingestId, chunksId), cause);
    const { config, name, ownerId } = state;
    const files = state.ingest?.files ?? [];
    if (state.ingest?.status === 'completed') {
      await this.untilSearchable(sourceId, state.ingest.chunksId ?? chunksId, position);
      return resultOf(name, ownerId, files);
    }
    const writer = await ChunkWriter.open(this.parts, { chunksId, sourceId }, cause);
    const chunking = { maxTokens: config.chunking.max_tokens, minTokens: config.chunking.min_tokens };
    for (const [index, file] of files.entries()) {
      if (index < writer.soFar.files) continue;
      await attempt.progress((100 * index) / files.length);
      const chunks = await this.chunksOf(file, chunking, signal);
      await attempt.progress((100 * (index + 0.5)) / files.length);
      await writer.write(index, file.filename, chunks, signal);
    }
    const { chunks, tokens } = writer.soFar;
    if (chunks === 0)
      throw new Rejection('document-unreadable', `There is no text in ${files.map(({ filename }) => filename).join(', ')}.`);
    const completed = await streams.transact(
      stream,
      source,
      completeIngest(sourceId, ingestId, chunksId, { chunks, tokens }),
      cause,
    );
    await this.untilSearchable(sourceId, chunksId, completed.position);
    return resultOf(name, ownerId, files);
  }

  override async failed(ingestId: string, input: TaskAttempt['input'], reason: string, cause: Cause): Promise<void> {
    const sourceId = sourceIdIn(input);
    await this.parts.streams.transact(sourceStream(sourceId), source, failIngest(sourceId, ingestId, reason), cause);
  }

  private async untilSearchable(sourceId: string, chunksId: string, position: bigint | undefined): Promise<void> {
    const { freshness, isSearchable } = this.parts;
    for (let waits = 0; waits < SEARCHABLE_WAITS_MAX && !(await isSearchable(sourceId, chunksId)); waits++) {
      await freshness.reached(['chunks', 'sources'], position);
    }
  }

  private async chunksOf(
    file: SourceFile,
    chunking: { maxTokens: number; minTokens: number },
    signal: AbortSignal,
  ): Promise<readonly Chunk[]> {
    const stored = await buffer(await this.parts.blobs.get(file.sha256));
    const bytes = new Uint8Array(stored.byteLength);
    bytes.set(stored);
    return this.parts.documents.chunks({ filename: file.filename, bytes }, chunking, signal);
  }
}

const sourceIdIn = ({ sourceId }: TaskAttempt['input']): string => String(sourceId);

function resultOf(name: string, user: string, files: readonly SourceFile[]): IngestResult {
  const formats = [...new Set(files.map(({ filename }) => `.${extensionOf(filename)}`))];
  const filename = files.map((file) => file.filename).join(', ');
  return { directory: `inputs/${user}/${name}`, formats, name_job: name, filename, user, limited: false };
}
