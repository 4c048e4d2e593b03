import { type Blobs, bytesOf } from '../../kernel/blobs.js';
import type { Commands } from '../../kernel/commands.js';
import { type EventStore, lastEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { Freshness } from '../../kernel/event-sourcing/freshness.js';
import { deterministicId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Streams } from '../../kernel/event-sourcing/streams.js';
import { RETRIES_MAX } from '../../work/tasks/task.policy.js';
import { AttemptFailed, type TaskAttempt, TaskRunner } from '../../work/tasks/task-runner.port.js';
import { ChunkWriter } from './chunks/chunk-writer.js';
import { isArchiveName } from '../documents/archive-name.policy.js';
import type { Archives } from '../documents/archive.port.js';
import { FileListBudget } from '../documents/file-list.policy.js';
import { type Chunk, CHUNKING_VERSION, type Documents } from '../documents/document.port.js';
import type { Embeddings } from '../models/model/embeddings.port.js';
import { ModelFailed } from '../models/model/language-model.port.js';
import { namesOf } from './source/file-names.policy.js';
import { areSame, type IngestResult, notFetchedText, resultOf } from './source/ingest-result.policy.js';
import type { RemoteFiles } from './remote/remote-files.js';
import { isNothingFetched, type RemotePages } from './remote/remote-pages.js';
import { parsedName } from './remote/stored-file.policy.js';
import { CompleteIngest, FailIngest, KeepPages, KeepUnpackedFiles, StartIngest } from './source/source.commands.js';
import { type Source, source } from './source/source.decider.js';
import { isCutAlike } from './source/source-config.decider.js';
import { chunksStream, type SourceChunksIngested, type SourceFile, sourceStream } from './source/source.events.js';

export const INGEST_SOURCE = 'ingest-source';

/** How many sources a worker ingests at once, in total and of one owner. Most of them wait for pages or for a parser. */
const INGESTIONS_AT_ONCE_MAX = 40;
const INGESTIONS_OF_OWNER_MAX = 8;

/** How often an ingestion waits until the read model has the new chunks. Each wait has a time limit. */
const SEARCHABLE_WAITS_MAX = 20;

/** The share of fetching in the progress of a source of pages. */
const FETCHING_PERCENT = 50;

/** Whether searches find these chunks of a source. */
export type Searchable = (sourceId: string, chunksId: string) => Promise<boolean>;

/**
 * Makes the files of a source searchable. Steps: record the id of the chunks; fetch and store the pages of a remote source, or
 * unpack the archives of an upload, and record the files; write the chunks file by file; record that the ingestion is complete;
 * wait until searches find the chunks, so that a source can be searched as soon as its task has succeeded. After a crash the next
 * attempt reads from the streams which steps are done and repeats only the interrupted one. The old chunks are searched until the
 * new ones are complete. If the files have not changed, the old chunks are kept.
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

  /**
   * The id of the chunks: the current one if the same files were cut and embedded in the same way before, else a new one. An
   * ingestion that the owner asked for replaces edits, a sync keeps them.
   */
  private async chunksIdOf(sourceId: string, ingestId: string): Promise<string> {
    const { state } = await this.parts.streams.fold(sourceStream(sourceId), source);
    const { live, ingest, config } = state;
    const model = this.parts.embeddings?.model ?? '';
    const written = (by: string) => deterministicId(by, CHUNKING_VERSION, model);
    const isAsWritten = live?.chunksId === written(live?.ingestId ?? '') && isCutAlike(live.chunking, config.chunking);
    if (!isAsWritten || !ingest?.files || !areSame(live.files, ingest.files)) return written(ingestId);
    return ingest.operation === 'reingest' && (await this.areEdited(live.chunksId)) ? written(ingestId) : live.chunksId;
  }

  private async areEdited(chunksId: string): Promise<boolean> {
    const last = await lastEvent(this.parts.store, chunksStream(chunksId));
    return last?.type !== ('SourceChunksIngested' satisfies SourceChunksIngested['type']);
  }

  /** @throws Rejection `pages-not-fetched` if no page could be fetched; AttemptFailed while a retry may succeed */
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
      if (missed.every(({ mayPass }) => mayPass) && attempt.attempt <= RETRIES_MAX) throw new AttemptFailed(reason);
      throw new Rejection('pages-not-fetched', reason);
    }
    const failures = missed.map(({ url, reason }) => ({ url, reason }));
    const pages = { files, sitemaps, failures, isCut };
    await this.parts.commands.execute(new KeepPages(sourceId, ingestId, pages, cause));
  }

  /**
   * Replaces each archive among the files by the documents in it, as far as one event can list them beside the other files. A
   * document replaces a file with the same path, as an added file does. @throws Rejection `document-…`
   */
  private async unpackArchives(sourceId: string, { remote, ingest }: Source, attempt: TaskAttempt): Promise<void> {
    if (remote || !ingest || ingest.files) return;
    const { taskId: ingestId, ownerId, cause, signal } = attempt;
    const { uploaded } = ingest;
    const archives = uploaded.filter(({ filename }) => isArchiveName(filename));
    const others = uploaded.filter(({ filename }) => !isArchiveName(filename));
    const folderOf = (filename: string) => (uploaded.length === 1 ? '' : `${filename.slice(0, filename.lastIndexOf('.'))}/`);
    const kept = archives.map((file) => ({ ...file, ownerId, folder: folderOf(file.filename) }));
    const { files: unpacked, skipped, isCut } = await this.parts.archives.unpack(kept, signal);
    const known = new Set(others.map(({ filename }) => filename));
    const list = new FileListBudget(others);
    const inside = unpacked.filter((file) => known.has(file.filename) || list.take(file));
    const replaced = new Set(inside.map(({ filename }) => filename));
    const files = uploaded.flatMap((file): readonly SourceFile[] => {
      if (isArchiveName(file.filename)) return inside.filter(({ archive }) => archive === file.filename);
      return replaced.has(file.filename) ? [] : [file];
    });
    const failures = skipped.map(({ path: url, reason }) => ({ url, reason }));
    const listed = { files, failures, isCut: isCut || inside.length < unpacked.length };
    await this.parts.commands.execute(new KeepUnpackedFiles(sourceId, ingestId, listed, cause));
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
        // An unreadable page, or file of an archive, does not fail the others.
        if ((remote || file.archive !== undefined) && error instanceof Rejection) return [];
        throw error;
      });
      await attempt.progress(percentAt(index + 0.5));
      await writer.write(index, file.filename, chunks, attempt.signal).catch((error: unknown) => {
        throw error instanceof ModelFailed ? notEmbedded(error, attempt) : error;
      });
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

/** A failure of the embeddings model. It ends the attempt while a retry may succeed, else the ingestion. */
const notEmbedded = ({ message, retriable }: ModelFailed, { attempt }: TaskAttempt): Error =>
  retriable && attempt <= RETRIES_MAX ? new AttemptFailed(message) : new Rejection('chunks-not-embedded', message);

const sourceIdIn = ({ sourceId }: TaskAttempt['input']): string => String(sourceId);
