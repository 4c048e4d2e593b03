import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BlobRef, Blobs } from '../../../kernel/blobs.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Archives, type KeptArchive, type SkippedFile, type Unpacked, type UnpackedFile } from '../archive.port.js';
import { isArchiveName } from '../archive-name.policy.js';
import { DOCUMENT_EXTENSIONS, extensionOf } from '../document.port.js';
import { FileListBudget } from '../file-list.policy.js';
import type { Entry } from '../formats/archive.js';
import type { ParsingLimits } from '../limits.js';
import { DocumentLane } from '../document-lane.js';
import { tooLarge, typeNotAccepted, unreadable } from '../refusals.js';
import { isOfTheSystem, memberPathOf, uniquePath } from './member-path.policy.js';
import { canUnpack, MemberDamaged, ZipFile } from './zip-file.js';

export type ArchiveLimits = ParsingLimits & Readonly<{ archiveDepthMax: number }>;

/** The number of skipped files that are listed with their reason. */
const SKIPPED_MAX = 100;
/** The number of files that are stored concurrently. */
const FILES_AT_ONCE_MAX = 16;
/** The number of files that the rejection of an archive without readable documents names. */
const NAMED_MAX = 3;

/**
 * Unpacks zips, one upload at a time per process. Each zip is read from a file on disk, and each file in it is streamed to the
 * blob store. Limits hold for all archives of an upload together, including nested ones.
 */
export class ZipArchives extends Archives {
  private readonly lane = new DocumentLane<Unpacked>();

  constructor(
    private readonly blobs: Blobs,
    private readonly folder: string,
    private readonly limits: ArchiveLimits,
  ) {
    super();
  }

  async check(filename: string, path: string): Promise<void> {
    const { archiveDepthMax, fileBytesMax } = this.limits;
    if (archiveDepthMax < 1) throw typeNotAccepted(filename, 'archives are not accepted.');
    if ((await stat(path)).size > fileBytesMax) throw tooLarge(filename, `it is larger than ${fileBytesMax} bytes.`);
    const zip = await ZipFile.open(filename, path, this.limits);
    await zip.close();
    const members = zip.entries.map((entry) => memberOf(entry, archiveDepthMax)).filter((member) => member !== undefined);
    if (!members.some(({ reason }) => reason === undefined)) throw nothingToRead(filename, members);
  }

  unpack(archives: readonly KeptArchive[], signal: AbortSignal): Promise<Unpacked> {
    return this.lane.ask(archives[0]?.ownerId ?? '', signal, async () => {
      await mkdir(this.folder, { recursive: true });
      const folder = await mkdtemp(join(this.folder, 'unpack-'));
      try {
        const unpacking = new Unpacking(this.blobs, folder, this.limits, signal);
        for (const archive of archives) await unpacking.addKept(archive);
        return unpacking.unpacked;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
}

/** A zip on disk: its name, its nesting depth, and the folder that the names of its files begin with. */
type Opened = Readonly<{ filename: string; path: string; depth: number; folder: string }>;

/** A document in a zip that will be stored. */
type Found = Readonly<{ entry: Entry; path: string }>;

/** A file in a zip, with the reason if it is not read. */
type Member = Readonly<{ path: string; reason: string | undefined }>;

class Unpacking {
  private readonly files: UnpackedFile[] = [];
  private readonly skipped: SkippedFile[] = [];
  private readonly names = new Set<string>();
  private readonly list = new FileListBudget();
  private unnamed = 0;
  private members = 0;
  private bytes = 0;
  private zips = 0;
  private isCut = false;

  constructor(
    private readonly blobs: Blobs,
    private readonly folder: string,
    private readonly limits: ArchiveLimits,
    private readonly signal: AbortSignal,
  ) {}

  get unpacked(): Unpacked {
    const { files, skipped, unnamed, isCut } = this;
    const others = { path: 'Others', reason: `${unnamed} more files were not read.` };
    return { files, skipped: unnamed > 0 ? [...skipped, others] : skipped, isCut };
  }

  async addKept({ filename, sha256, folder }: KeptArchive): Promise<void> {
    const path = this.nextPath();
    await pipeline(await this.blobs.get(sha256), createWriteStream(path), { signal: this.signal });
    const before = this.files.length;
    await this.add({ filename, path, depth: 1, folder }, filename);
    if (this.files.length === before && !this.isCut) {
      throw nothingToRead(
        filename,
        this.skipped.filter((file) => file.path.startsWith(filename)),
      );
    }
    await rm(path);
  }

  private async add(opened: Opened, archive: string): Promise<void> {
    const zip = await ZipFile.open(opened.filename, opened.path, this.limits);
    try {
      this.count(opened.filename, zip.entries);
      const documents: Found[] = [];
      const keepDocuments = () => this.keep(zip, documents.splice(0), opened, archive);
      for (const entry of zip.entries) {
        this.signal.throwIfAborted();
        if (this.isCut) return;
        const member = memberOf(entry, this.limits.archiveDepthMax - opened.depth + 1);
        if (!member) continue;
        const { path, reason } = member;
        if (reason !== undefined) this.skip(`${opened.filename}/${path}`, reason);
        else if (!isArchiveName(path)) documents.push({ entry, path });
        else {
          await keepDocuments();
          await this.addInner(zip, entry, path, opened, archive);
        }
        if (documents.length === FILES_AT_ONCE_MAX) await keepDocuments();
      }
      await keepDocuments();
    } finally {
      await zip.close();
    }
  }

  /** Stores a few documents concurrently, because storing a blob waits for the disk. */
  private async keep(zip: ZipFile, documents: readonly Found[], opened: Opened, archive: string): Promise<void> {
    const named = documents.map(({ entry, path }) => ({ entry, path, filename: uniquePath(opened.folder + path, this.names) }));
    const stored = await Promise.allSettled(named.map(({ entry }) => this.store(zip.read(entry))));
    for (const [index, outcome] of stored.entries()) {
      const { path, filename } = named[index]!;
      if (outcome.status === 'rejected') this.skipDamaged(outcome.reason, `${opened.filename}/${path}`);
      else if (!this.isCut) this.addToList({ filename, ...outcome.value, archive });
    }
  }

  private addToList(file: UnpackedFile): void {
    if (this.list.take(file)) this.files.push(file);
    else this.isCut = true;
  }

  private store(bytes: Readable): Promise<BlobRef> {
    // The store may wrap the error of the stream, so the original error is kept.
    let damage: unknown;
    bytes.on('error', (error) => (damage = error));
    return this.blobs.put(bytes).catch((error: unknown) => {
      throw damage ?? error;
    });
  }

  private skipDamaged(error: unknown, path: string): void {
    if (!(error instanceof MemberDamaged)) throw error;
    this.skip(path, 'It is damaged.');
  }

  private async addInner(zip: ZipFile, entry: Entry, path: string, opened: Opened, archive: string): Promise<void> {
    const inner = this.nextPath();
    const folder = `${opened.folder}${path.slice(0, -'.zip'.length)}/`;
    const filename = `${opened.filename}/${path}`;
    try {
      await pipeline(zip.read(entry), createWriteStream(inner), { signal: this.signal });
      await this.add({ filename, path: inner, depth: opened.depth + 1, folder }, archive);
    } catch (error) {
      if (!(error instanceof Rejection)) this.skipDamaged(error, filename);
      else if (error.code === 'document-unreadable') this.skip(filename, 'It cannot be read as an archive.');
      else throw error;
    } finally {
      await rm(inner, { force: true });
    }
  }

  /** Counts nested archives too, because a small archive may hold a huge one. @throws Rejection `document-too-large` */
  private count(filename: string, entries: readonly Entry[]): void {
    const { archiveEntriesMax, unpackedBytesMax } = this.limits;
    this.members += entries.length;
    this.bytes += entries.reduce((sum, { unpacked }) => sum + unpacked, 0);
    if (this.members > archiveEntriesMax)
      throw tooLarge(filename, `the archives have more than ${archiveEntriesMax} files together.`);
    if (this.bytes > unpackedBytesMax)
      throw tooLarge(filename, `the archives have more than ${unpackedBytesMax} bytes together, unpacked.`);
  }

  private skip(path: string, reason: string): void {
    if (this.skipped.length < SKIPPED_MAX) this.skipped.push({ path, reason });
    else this.unnamed++;
  }

  private nextPath(): string {
    return join(this.folder, String(this.zips++));
  }
}

/** Decides from its entry whether a file in an archive is read. Undefined for files that operating systems add. */
function memberOf(entry: Entry, levels: number): Member | undefined {
  const path = memberPathOf(entry.name);
  if (path === undefined)
    return { path: entry.name.toWellFormed().slice(0, 100), reason: 'Its path leads out of the archive, or is too long.' };
  return isOfTheSystem(path) ? undefined : { path, reason: reasonOf(entry, path, levels) };
}

function reasonOf(entry: Entry, path: string, levels: number): string | undefined {
  if (entry.isLink) return 'It is a link.';
  if (entry.isEncrypted) return 'It is encrypted.';
  if (!canUnpack(entry)) return 'Its compression method is not supported.';
  if (isArchiveName(path)) return levels > 1 ? undefined : 'Archives are nested too deep.';
  return DOCUMENT_EXTENSIONS.includes(extensionOf(path)) ? undefined : 'Files of this kind are not accepted.';
}

function nothingToRead(filename: string, members: readonly Member[] | readonly SkippedFile[]): Rejection {
  if (members.length === 0) return unreadable(filename, 'an archive of documents');
  const named = members.slice(0, NAMED_MAX).map(({ path, reason }) => `${path}: ${reason ?? ''}`);
  return new Rejection('document-unreadable', `${filename} holds no document that can be read. ${named.join(' ')}`);
}
