import { Readable } from 'node:stream';
import type { Blobs } from '../../../kernel/blobs.js';
import { FileListBudget } from '../../documents/file-list.policy.js';
import { storableText } from '../../documents/storable-text.policy.js';
import type { SourceFile } from '../source/source.events.js';
import type { GatheredPages, GatheringProgress, MissedPage } from './gathering.js';
import type { RemoteLimits } from './remote-limits.js';
import { PageNotFetched } from './remote-requests.js';
import { type FileStore, StoreOutOfReach } from './file-store.js';
import { isReadable, type StoredFile } from './stored-file.policy.js';

const FILES_AT_ONCE_MAX = 4;
/** The number of missed files that are listed with their reason. */
const MISSED_MAX = 100;
/** A file with a longer path is not read. */
const PATH_CHARACTERS_MAX = 1_024;

/**
 * Gathers the files of a store for one ingestion. A file with an unchanged version is not read again. A listed file that cannot
 * be read is kept as it was before. A file that is no longer listed is dropped.
 */
export class FileGathering {
  private readonly files: SourceFile[] = [];
  private readonly missed: MissedPage[] = [];
  private readonly list = new FileListBudget();
  private readonly earlier: ReadonlyMap<string, SourceFile>;
  private bytes = 0;
  private isCut = false;

  constructor(
    private readonly parts: Readonly<{ store: FileStore; blobs: Blobs; limits: RemoteLimits; progress: GatheringProgress }>,
    earlier: readonly SourceFile[],
  ) {
    this.earlier = new Map(earlier.map((file) => [file.filename, file]));
  }

  /** Gathers the files. If none can be read, the failure is reported under `address`. */
  async from(address: string): Promise<GatheredPages> {
    try {
      await this.gather();
    } catch (error) {
      if (!(error instanceof StoreOutOfReach)) throw error;
      const { message: reason, isTransient: mayPass } = error.failure;
      return { files: [], sitemaps: [], missed: [{ url: address, reason, mayPass }], isCut: false };
    }
    const { files, missed, isCut } = this;
    if (files.length + missed.length > 0) return { files, sitemaps: [], missed, isCut };
    return {
      files,
      sitemaps: [],
      missed: [{ url: address, reason: 'It holds no file that can be read.', mayPass: false }],
      isCut,
    };
  }

  private async gather(): Promise<void> {
    const { store, progress } = this.parts;
    const listed = await store.list();
    this.isCut = listed.isCut;
    const wanted = this.wanted(listed.files);
    for (let at = 0; at < wanted.length; at += FILES_AT_ONCE_MAX) {
      await progress(at / wanted.length);
      const together = wanted.slice(at, at + FILES_AT_ONCE_MAX);
      const outcomes = await Promise.all(together.map((file) => this.fileOf(file)));
      for (const [index, outcome] of outcomes.entries()) {
        const file = outcome instanceof PageNotFetched ? this.earlierFile(together[index]!, outcome) : outcome;
        if (file) this.files.push(file);
      }
    }
  }

  /** The readable files in the order of their paths, within the limits. */
  private wanted(files: readonly StoredFile[]): readonly StoredFile[] {
    const { filesMax, pageBytesMax, bytesMax } = this.parts.limits;
    const wanted: StoredFile[] = [];
    for (const file of files.filter(({ path }) => isReadable(path)).toSorted(byPath)) {
      if (file.path.length > PATH_CHARACTERS_MAX) this.miss(file.path, new PageNotFetched('Its path is too long.', false));
      else if (file.size > pageBytesMax)
        this.miss(file.path, new PageNotFetched(`It is larger than ${pageBytesMax} bytes.`, false));
      else if (wanted.length === filesMax || this.bytes + file.size > bytesMax || !this.list.take(listedAs(file))) {
        this.isCut = true;
        break;
      } else {
        this.bytes += file.size;
        wanted.push(file);
      }
    }
    return wanted;
  }

  private async fileOf(file: StoredFile): Promise<SourceFile | PageNotFetched> {
    const filename = storableText(file.path);
    const earlier = this.earlier.get(filename);
    if (earlier?.version === file.version) return earlier;
    const content = await this.parts.store.read(file);
    if (content instanceof PageNotFetched) return content;
    const blob = await this.parts.blobs.put(Readable.from([content.bytes]));
    return { filename, ...blob, version: content.version };
  }

  private earlierFile({ path }: StoredFile, failure: PageNotFetched): SourceFile | undefined {
    const earlier = this.earlier.get(storableText(path));
    this.miss(path, failure, earlier);
    return earlier;
  }

  private miss(path: string, { message, isTransient: mayPass }: PageNotFetched, earlier?: SourceFile): void {
    const reason = earlier ? `${message} What was read of it before is kept.` : message;
    if (this.missed.length < MISSED_MAX)
      this.missed.push({ url: storableText(path).slice(0, PATH_CHARACTERS_MAX), reason, mayPass });
    else this.isCut = true;
  }
}

const byPath = (one: StoredFile, other: StoredFile): number => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0);

/** A file as it will be listed in the event, for its size. */
const listedAs = ({ path, version, size }: StoredFile) => ({ filename: path, sha256: '0'.repeat(64), size, version });
