import { buffer } from 'node:stream/consumers';
import type { Blobs } from '../kernel/blobs.js';
import type { EventStore } from '../kernel/event-store.js';
import type { Cause } from '../kernel/events.js';
import type { Freshness } from '../kernel/freshness.js';
import { deterministicId } from '../kernel/ids.js';
import { Rejection } from '../kernel/rejection.js';
import type { Streams } from '../kernel/streams.js';
import { RETRIES_MAX } from '../tasks/task.policy.js';
import { type TaskAttempt, TaskRunner } from '../tasks/task-runner.port.js';
import { ChunkWriter } from './chunk-writer.js';
import { CHUNKING_VERSION } from './chunking.policy.js';
import type { Chunk, Documents } from './document.port.js';
import type { Embeddings } from './embeddings.port.js';
import { areSame, type IngestResult, namesOf, notFetchedText, resultOf } from './ingest-result.policy.js';
import { isNothingFetched, type RemotePages } from './remote/remote-pages.js';
import { completeIngest, failIngest, keepPages, type Source, source, startIngest } from './source.decider.js';
import { type SourceFile, sourceStream } from './source.events.js';

export const INGEST_SOURCE = 'ingest-source';

/** How often one waits for the read model to have come so far that what was ingested is found; each wait is bounded itself. */
const SEARCHABLE_WAITS_MAX = 20;

/** Of a source of pages this much of the work is fetching them. */
const FETCHING_PERCENT = 50;

/** Whether the newest chunks of a source are what searches find. */
export type Searchable = (sourceId: string, chunksId: string) => Promise<boolean>;

/**
 * Makes the files of a source searchable. Steps: say where the chunks go; of a source of pages, fetch them, keep their bytes
 * and say which they are; write the chunks file by file; say that they are what is searched now; wait until they are found,
 * so that a task which succeeded is one whose source answers. A crash after any of them repeats none: the next attempt asks
 * the streams what is there. A crash while pages are fetched has them fetched again. What was searched before is searched
 * until the new chunks are complete; files that are the same as before keep the chunks they have.
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
      pages: RemotePages;
      freshness: Freshness;
      isSearchable: Searchable;
    }>,
  ) {
    super();
  }

  async run(attempt: TaskAttempt): Promise<IngestResult> {
    const { taskId: ingestId, cause } = attempt;
    const { streams } = this.parts;
    const sourceId = sourceIdIn(attempt.input);
    const stream = sourceStream(sourceId);
    const start = (chunksId: string) => streams.transact(stream, source, startIngest(sourceId, ingestId, chunksId), cause);
    const before = await start(await this.chunksIdOf(sourceId, ingestId));
    if (before.state.ingest?.status === 'completed') {
      const { chunksId = '' } = before.state.ingest;
      await this.untilSearchable(sourceId, chunksId, before.position);
      const { soFar } = await ChunkWriter.open(this.parts, { chunksId, sourceId }, cause);
      return resultOf(sourceId, before.state, soFar.filesWithoutChunks);
    }
    await this.fetchPages(sourceId, before.state, attempt);
    const chunksId = await this.chunksIdOf(sourceId, ingestId);
    const { state } = await start(chunksId);
    const { chunks, tokens, filesWithoutChunks } = await this.write(sourceId, chunksId, state, attempt);
    if (chunks === 0) throw new Rejection('document-unreadable', `There is no text in ${namesOf(state.ingest?.files)}.`);
    const completed = await streams.record(
      stream,
      source,
      completeIngest(sourceId, ingestId, chunksId, { chunks, tokens }),
      cause,
    );
    await this.untilSearchable(sourceId, chunksId, completed.position);
    return resultOf(sourceId, completed.state, filesWithoutChunks);
  }

  override async failed(ingestId: string, input: TaskAttempt['input'], reason: string, cause: Cause): Promise<void> {
    const sourceId = sourceIdIn(input);
    await this.parts.streams.record(sourceStream(sourceId), source, failIngest(sourceId, ingestId, reason), cause);
  }

  /** Chunks of the same files, cut and embedded as they would be now, are there already. */
  private async chunksIdOf(sourceId: string, ingestId: string): Promise<string> {
    const { state } = await this.parts.streams.fold(sourceStream(sourceId), source);
    const { live, ingest } = state;
    const model = this.parts.embeddings?.model ?? '';
    const written = (by: string) => deterministicId(by, CHUNKING_VERSION, model);
    const isSame = live && ingest?.files && live.chunksId === written(live.ingestId) && areSame(live.files, ingest.files);
    return isSame ? live.chunksId : written(ingestId);
  }

  /** @throws Rejection `pages-not-fetched` when there are none; another error while that may pass */
  private async fetchPages(sourceId: string, { remote, ingest, live }: Source, attempt: TaskAttempt): Promise<void> {
    if (!remote || ingest?.files) return;
    const { taskId: ingestId, cause, signal, progress } = attempt;
    const earlier = live ?? { files: [], sitemaps: [] };
    const gathered = await this.parts.pages.gather(remote, earlier, signal, (share) => progress(FETCHING_PERCENT * share));
    const { files, sitemaps, missed, isCut } = gathered;
    if (isNothingFetched(gathered)) {
      const reason = notFetchedText(missed);
      if (missed.every(({ mayPass }) => mayPass) && attempt.attempt <= RETRIES_MAX) throw new Error(reason);
      throw new Rejection('pages-not-fetched', reason);
    }
    const failures = missed.map(({ url, reason }) => ({ url, reason }));
    const pages = { files, sitemaps, failures, isCut };
    await this.parts.streams.transact(sourceStream(sourceId), source, keepPages(sourceId, ingestId, pages), cause);
  }

  private async write(sourceId: string, chunksId: string, { config, remote, ingest }: Source, attempt: TaskAttempt) {
    const files = ingest?.files ?? [];
    const writer = await ChunkWriter.open(this.parts, { chunksId, sourceId }, attempt.cause);
    const chunking = { maxTokens: config.chunking.max_tokens, minTokens: config.chunking.min_tokens };
    const begin = remote ? FETCHING_PERCENT : 0;
    const percentAt = (place: number) => begin + ((100 - begin) * place) / files.length;
    for (const [index, file] of files.entries()) {
      if (index < writer.soFar.files) continue;
      await attempt.progress(percentAt(index));
      const chunks = await this.chunksOf(file, chunking, attempt.signal).catch((error: unknown) => {
        // One page that cannot be read does not spoil the others.
        if (remote && error instanceof Rejection) return [];
        throw error;
      });
      await attempt.progress(percentAt(index + 0.5));
      await writer.write(index, file.filename, chunks, attempt.signal);
    }
    return writer.soFar;
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
