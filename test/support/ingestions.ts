import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { strToU8, zipSync } from 'fflate';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { newId } from '../../src/kernel/ids.js';
import { Rejection } from '../../src/kernel/rejection.js';
import { FolderBlobs } from '../../src/platform/blobs/folder-blobs.js';
import { GuardedHttp } from '../../src/platform/outgoing/guarded-http.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { ZipArchives } from '../../src/resources/documents/archives/zip-archives.js';
import { type Chunk, type Chunking, Documents, type WaitingDocument } from '../../src/resources/documents/document.port.js';
import { PARSING_LIMITS } from '../../src/resources/documents/limits.js';
import type { Embeddings } from '../../src/resources/models/model/embeddings.port.js';
import { IngestSource } from '../../src/resources/sources/ingest-source.js';
import { RemoteFiles } from '../../src/resources/sources/remote/remote-files.js';
import { RemotePages } from '../../src/resources/sources/remote/remote-pages.js';
import { DEFAULT_SOURCE_CONFIG } from '../../src/resources/sources/source/source-config.policy.js';
import {
  CompleteIngestHandler,
  FailIngestHandler,
  KeepPagesHandler,
  KeepUnpackedFilesHandler,
  StartIngestHandler,
} from '../../src/resources/sources/source/source.commands.js';
import { createSource, source } from '../../src/resources/sources/source/source.decider.js';
import { type SourceChunksIngested, type SourceFile, sourceStream } from '../../src/resources/sources/source/source.events.js';
import type { TaskAttempt } from '../../src/work/tasks/task-runner.port.js';
import { commandsOver } from './commands-over.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { MemoryCredentialVault } from './memory-credential-vault.js';

export const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;

/** A parser that makes one chunk of each line. */
class LinesAsChunks extends Documents {
  reads: string[] = [];
  /** The maximum tokens with which each file was cut. */
  cutAt: number[] = [];
  isRepaired = false;
  check(): Promise<void> {
    return Promise.resolve();
  }
  sections(): Promise<never[]> {
    return Promise.resolve([]);
  }
  async chunks({ filename, bytes }: WaitingDocument, { maxTokens }: Chunking): Promise<readonly Chunk[]> {
    this.reads.push(filename);
    this.cutAt.push(maxTokens);
    const text = new TextDecoder().decode(await bytes());
    if (text === 'broken' && !this.isRepaired) throw new Rejection('document-unreadable', `${filename} is broken.`);
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => ({ title: 'T', text: line, tokens: 2 }));
  }
}

export class CountingEmbeddings implements Embeddings {
  readonly model = 'numbers';
  embedded = 0;
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]> {
    this.embedded += texts.length;
    return Promise.resolve(texts.map((text) => [text.length, 1]));
  }
}

const limits = {
  filesMax: 100,
  pagesMax: 5,
  pageBytesMax: 10_000,
  bytesMax: 50_000,
  depthMax: 2,
  pageMs: 5_000,
  totalMs: 20_000,
};

type Ids = Readonly<{ sourceId: string; taskId: string }>;

/** An attempt of the task that ingests a source. */
export const attempt = (ids: Ids, progress: TaskAttempt['progress'] = () => Promise.resolve()): TaskAttempt => ({
  taskId: ids.taskId,
  ownerId: 'ann',
  input: { sourceId: ids.sourceId },
  attempt: 1,
  cause,
  signal: new AbortController().signal,
  progress,
});

/** Sources of one log and one folder, and the attempts to ingest them. */
export class Ingestions {
  readonly store = new InMemoryEventStore();
  readonly streams = new Streams(this.store, systemTiming);
  readonly documents = new LinesAsChunks();
  /** How many checks find the read model behind. */
  lag = 0;
  private readonly blobs: FolderBlobs;
  private readonly web = new GuardedHttp({ privateHosts: ['127.0.0.1'] });

  private constructor(private readonly folder: string) {
    this.blobs = new FolderBlobs(folder);
  }

  static async started(): Promise<Ingestions> {
    return new Ingestions(await mkdtemp(join(tmpdir(), 'ingest-')));
  }

  async close(): Promise<void> {
    await this.web.close();
    await rm(this.folder, { recursive: true });
  }

  ingesting(embeddings?: Embeddings): IngestSource {
    const { store, streams, blobs, documents, web } = this;
    return new IngestSource({
      store,
      streams,
      commands: commandsOver(
        new KeepPagesHandler(streams),
        new KeepUnpackedFilesHandler(streams),
        new StartIngestHandler(streams),
        new CompleteIngestHandler(streams),
        new FailIngestHandler(streams),
      ),
      blobs,
      documents,
      archives: new ZipArchives(blobs, join(this.folder, 'work'), { ...PARSING_LIMITS, archiveDepthMax: 3 }),
      embeddings,
      pages: new RemotePages(web, blobs, limits, systemTiming),
      files: new RemoteFiles({
        http: web,
        blobs,
        vault: new MemoryCredentialVault(),
        limits,
        github: { apiBaseUrl: 'http://127.0.0.1:1', rawBaseUrl: 'http://127.0.0.1:1' },
        clock: { now: () => new Date() },
        timing: systemTiming,
      }),
      freshness: { reached: () => Promise.resolve(--this.lag <= 0) },
      isSearchable: () => Promise.resolve(this.lag <= 0),
    });
  }

  /** A source of one file for each text. */
  async uploaded(...texts: string[]): Promise<Ids> {
    return this.created(await Promise.all(texts.map((text, index) => this.kept(`${index}.txt`, Buffer.from(text)))));
  }

  /** A source of an archive and of other files. */
  async uploadedArchive(
    entries: Readonly<Record<string, string>>,
    ...others: { filename: string; text: string }[]
  ): Promise<Ids> {
    const zip = zipSync(Object.fromEntries(Object.entries(entries).map(([path, text]) => [path, strToU8(text)])));
    const files = [await this.kept('docs.zip', zip)];
    for (const { filename, text } of others) files.push(await this.kept(filename, strToU8(text)));
    return this.created(files);
  }

  async all<E = unknown>(category: string): Promise<{ type: string; data: E }[]> {
    const found: { type: string; data: E }[] = [];
    for await (const page of this.store.readAll({ after: -1n, filter: { categories: [category] } })) {
      found.push(...page.events.map(({ type, data }) => ({ type, data: JSON.parse(data) as E })));
    }
    return found;
  }

  async batches() {
    return (await this.all<SourceChunksIngested['data']>('chunks')).map(({ data }) => data);
  }

  async texts() {
    return (await this.batches()).flatMap(({ chunks }) => chunks.map(({ text }) => text));
  }

  private async kept(filename: string, bytes: Uint8Array) {
    return { filename, ...(await this.blobs.put(Readable.from([Buffer.from(bytes)]))) };
  }

  private async created(files: readonly SourceFile[]): Promise<Ids> {
    const ids = { sourceId: newId(), taskId: newId() };
    const created = { sourceId: ids.sourceId, ownerId: 'ann', name: 'Docs', config: DEFAULT_SOURCE_CONFIG, remote: null };
    await this.streams.transact(sourceStream(ids.sourceId), source, createSource(created, ids.taskId, files), cause);
    return ids;
  }
}
