import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { DEFLATED, type Entry, LOCAL_HEADER_BYTES, packedStart, STORED } from '../formats/archive.js';
import { bytesAt, entriesOf } from '../formats/inspect-file.js';
import type { ParsingLimits } from '../limits.js';

/** The content of a file in a zip does not match the zip's directory. */
export class MemberDamaged extends Error {
  override readonly name = 'MemberDamaged';
}

/** A zip on disk. Its files are read as streams, so only a part of one is in memory at a time. */
export class ZipFile {
  private constructor(
    private readonly file: FileHandle,
    private readonly path: string,
    readonly entries: readonly Entry[],
  ) {}

  /** @throws Rejection `document-unreadable`, `document-too-large` if the sizes in the directory exceed a limit */
  static async open(filename: string, path: string, limits: ParsingLimits): Promise<ZipFile> {
    const file = await open(path);
    try {
      return new ZipFile(file, path, await entriesOf(file, filename, limits));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** The unpacked bytes. The stream fails with MemberDamaged if they differ from the size or checksum in the directory. */
  read(entry: Entry): Readable {
    return Readable.from(this.pieces(entry), { objectMode: false });
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async *pieces(entry: Entry): AsyncGenerator<Buffer> {
    let [size, crc] = [0, 0];
    try {
      for await (const piece of (await this.unpacking(entry)) as AsyncIterable<Buffer>) {
        size += piece.length;
        if (size > entry.unpacked) throw new MemberDamaged('It holds more than announced.');
        crc = crc32(piece, crc);
        yield piece;
      }
    } catch (error) {
      throw isDamage(error) ? new MemberDamaged('It cannot be unpacked.', { cause: error }) : error;
    }
    if (size !== entry.unpacked || crc !== entry.crc) throw new MemberDamaged('It holds something else than announced.');
  }

  private async unpacking(entry: Entry): Promise<Readable> {
    const start = await this.startOf(entry);
    if (entry.packed === 0) return Readable.from([]);
    const packed = createReadStream(this.path, { start, end: start + entry.packed - 1 });
    return entry.method === STORED ? packed : pipeline(packed, createInflateRaw(), () => undefined);
  }

  private async startOf(entry: Entry): Promise<number> {
    const header = await bytesAt(this.file, entry.offset, LOCAL_HEADER_BYTES);
    try {
      return packedStart(header, entry);
    } catch (error) {
      throw new MemberDamaged('It does not stand where it should.', { cause: error });
    }
  }
}

export const canUnpack = ({ method }: Entry): boolean => method === STORED || method === DEFLATED;

/** Whether an error comes from zlib: the packed bytes are invalid or incomplete. */
const isDamage = (error: unknown): boolean => String((error as { code?: unknown } | undefined)?.code).startsWith('Z_');
