import { type Blobs, bytesOf } from '../../kernel/blobs.js';
import type { Commands } from '../../kernel/commands.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { deterministicId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Streams } from '../../kernel/event-sourcing/streams.js';
import { RETRIES_MAX } from '../../work/tasks/task.policy.js';
import { type TaskAttempt, TaskRunner } from '../../work/tasks/task-runner.port.js';
import { ChunkWriter } from './chunks/chunk-writer.js';
import { isArchiveName } from '../documents/archive-name.policy.js';
import type { Archives } from '../documents/archive.port.js';
import { type Chunk, CHUNKING_VERSION, type Documents } from '../documents/document.port.js';
import type { Embeddings } from '../models/model/embeddings.port.js';
import { namesOf } from './source/file-names.policy.js';
import { areSame, type IngestResult, notFetchedText, resultOf } from './source/ingest-result.policy.js';
import type { RemoteFiles } from './remote/remote-files.js';
import { isNothingFetched, type RemotePages } from './remote/remote-pages.js';
import { parsedName } from './remote/stored-file.policy.js';
import { CompleteIngest, FailIngest, KeepPages, KeepUnpackedFiles, StartIngest } from './source/source.commands.js';
import { type Source, source } from './source/source.decider.js';
import { isCutAlike } from './source/source-config.decider.js';
import { type SourceFile, sourceStream } from './source/source.events.js';

export const INGEST_SOURCE = 'ingest-source';

/** So many sources a worker ingests at once, and of one owner: most of them wait, for pages or for their turn to be read. */
const INGESTIONS_AT_ONCE_MAX = 40;
const INGESTIONS_OF_OWNER_MAX = 8;

/** How often one waits for the read model to have come so far that what was ingested is found; each wait is bounded itself. */
const SEARCHABLE_WAITS_MAX = 20;

/** Of a source of pages this much of the work is fetching them. */
const FETCHING_PERCENT = 50;

/** Whether the newest chunks of a source are what searches find. */
export type Searchable = (sourceId: string, chunksId: string) => Promise<boolean>;

/**
 * Makes the files of a source searchable. Steps: say where the chunks go; of a source of pages, fetch them, keep their bytes
 * and say which they are; of an upload with archives, unpack them likewise; write the chunks file by file; say that they are what is searched now; wait until they are found,
 * so that a task which succeeded is one whose source answers. A crash after any of them repeats none: the next attempt asks
 * the streams what is there. A crash while pages are fetched, or archives unpacked, has that done again. What was searched before is searched
 * until the new chunks are complete; files that are the same as before keep the chunks they have.
 */
export class IngestSource extends TaskRunner {
  readonly kind = INGEST_SOURCE;
  override readonly concurrency = INGESTIONS_AT_ONCE_MAX;
  override readonly perOwnerMax = INGESTIONS_OF_OWNER_MAX;

  constructor(
    private readonly parts: Readonly<{
      store: EventStore;
      streams: Streams;
      commands: Commands;
      blobs: Blobs;
      documents: Documents;
      archives: Archives;
      embeddings: Embeddings | undefined;
      pages: RemotePages;
      files: RemoteFiles;
      freshness: Freshness;
      isSearchable: Searchable;
    }>,
  ) {
    super();
  }

  async run(attempt: TaskAttempt): Promise<IngestResult> {
    const { taskId: ingestId, cause } = attempt;
    const { commands } = this.parts;
    const sourceId = sourceIdIn(attempt.input);
    const start = (chunksId: string) => commands.execute(new StartIngest(sourceId, ingestId, chunksId, cause));
    const before = await start(await this.chunksIdOf(sourceId, ingestId));
    if (before.state.ingest?.status === 'completed') {
      const { chunksId = '' } = before.state.ingest;
      await this.untilSearchable(sourceId, chunksId, before.position);
      const { soFar } = await ChunkWriter.open(this.parts, { chunksId, sourceId }, cause);
      return resultOf(sourceId, before.state, soFar.filesWithoutChunks);
    }
    await this.fetchPages(sourceId, before.state, attempt);
    await this.unpackArchives(sourceId, before.state, attempt);
    const chunksId = await this.chunksIdOf(sourceId, ingestId);
    const { state } = await start(chunksId);
    const { chunks, tokens, filesWithoutChunks } = await this.write(sourceId, chunksId, state, attempt);
    if (chunks === 0) throw new Rejection('document-unreadable', `There is no text in ${namesOf(state.ingest?.files)}.`);
    const completed = await commands.execute(new CompleteIngest(sourceId, ingestId, chunksId, { chunks, tokens }, cause));
    await this.untilSearchable(sourceId, chunksId, completed.position);
    return resultOf(sourceId, completed.state, filesWithoutChunks);
  }

  override async failed(ingestId: string, input: TaskAttempt['input'], reason: string, cause: Cause): Promise<void> {
    await this.parts.commands.execute(new FailIngest(sourceIdIn(input), ingestId, reason, cause));
  }

  /** Chunks of the same files, cut and embedded as they would be now, may be there already. */
  private async chunksIdOf(sourceId: string, ingestId: string): Promise<string> {
    const { state } = await this.parts.streams.fold(sourceStream(sourceId), source);
    const { live, ingest, config } = state;
    const model = this.parts.embeddings?.model ?? '';
    const written = (by: string) => deterministicId(by, CHUNKING_VERSION, model);
    const isAsWritten = live?.chunksId === written(live?.ingestId ?? '') && isCutAlike(live.chunking, config.chunking);
    return isAsWritten && ingest?.files && areSame(live.files, ingest.files) ? live.chunksId : written(ingestId);
  }

  /** @throws Rejection `pages-not-fetched` when there are none; another error while that may pass */
  private async fetchPages(sourceId: string, { remote, ingest, live }: Source, attempt: TaskAttempt): Promise<void> {
    if (!remote || ingest?.files) return;
    const { taskId: ingestId, cause, signal, progress } = attempt;
    const earlier = live ?? { files: [], sitemaps: [] };
    const fetched = (share: number) => progress(FETCHING_PERCENT * share);
    const gathered =
      remote.kind === 'github' || remote.kind === 's3'
        ? await this.parts.files.gather(remote, attempt.ownerId, earlier.files, signal, fetched)
        : await this.parts.pages.gather(remote, earlier, signal, fetched);
    const { files, sitemaps, missed, isCut } = gathered;
    if (isNothingFetched(gathered)) {
      const reason = notFetchedText(missed, remote.kind);
      if (missed.every(({ mayPass }) => mayPass) && attempt.attempt <= RETRIES_MAX) throw new Error(reason);
      throw new Rejection('pages-not-fetched', reason);
    }
    const failures = missed.map(({ url, reason }) => ({ url, reason }));
    const pages = { files, sitemaps, failures, isCut };
    await this.parts.commands.execute(new KeepPages(sourceId, ingestId, pages, cause));
  }

  /** The documents inside of archives take their place among the other files. @throws Rejection `document-…` */
  private async unpackArchives(sourceId: string, { remote, ingest }: Source, attempt: TaskAttempt): Promise<void> {
    if (remote || !ingest || ingest.files) return;
    const { taskId: ingestId, ownerId, cause, signal } = attempt;
    const { uploaded } = ingest;
    const archives = uploaded.filter(({ filename }) => isArchiveName(filename));
    const folderOf = (filename: string) => (uploaded.length === 1 ? '' : `${filename.slice(0, filename.lastIndexOf('.'))}/`);
    const kept = archives.map((file) => ({ ...file, ownerId, folder: folderOf(file.filename) }));
    const { files: inside, skipped, isCut } = await this.parts.archives.unpack(kept, signal);
    const files = uploaded.flatMap((file): readonly SourceFile[] =>
      isArchiveName(file.filename) ? inside.filter(({ archive }) => archive === file.filename) : [file],
    );
    const failures = skipped.map(({ path: url, reason }) => ({ url, reason }));
    await this.parts.commands.execute(new KeepUnpackedFiles(sourceId, ingestId, { files, failures, isCut }, cause));
  }

  private async write(sourceId: string, chunksId: string, { config, remote, ingest }: Source, attempt: TaskAttempt) {
    const files = ingest?.files ?? [];
    const writer = await ChunkWriter.open(this.parts, { chunksId, sourceId }, attempt.cause);
    const { max_tokens: maxTokens, min_tokens: minTokens } = ingest?.chunking ?? config.chunking;
    const chunking = { maxTokens, minTokens };
    const begin = remote ? FETCHING_PERCENT : 0;
    const percentAt = (place: number) => begin + ((100 - begin) * place) / files.length;
    for (const [index, file] of files.entries()) {
      if (index < writer.soFar.files) continue;
      await attempt.progress(percentAt(index));
      const chunks = await this.chunksOf(file, chunking, attempt).catch((error: unknown) => {
        // One page, or one file of an archive, that cannot be read does not spoil the others.
        if ((remote || file.archive !== undefined) && error instanceof Rejection) return [];
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
    { ownerId, signal }: TaskAttempt,
  ): Promise<readonly Chunk[]> {
    const { filename, size } = file;
    const waiting = {
      filename: file.version === undefined ? filename : parsedName(filename),
      ownerId,
      size,
      bytes: () => bytesOf(this.parts.blobs, file),
    };
    return this.parts.documents.chunks(waiting, chunking, signal);
  }
}

const sourceIdIn = ({ sourceId }: TaskAttempt['input']): string => String(sourceId);
