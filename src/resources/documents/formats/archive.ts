import { inflateRawSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import type { ParsingLimits } from '../limits.js';
import { tooDeep, tooLarge, unreadable } from '../refusals.js';
import { NotCopied, XmlCopy } from './xml-copy.js';
import { readXml, TooDeep, type XmlHandlers } from './xml.js';

/** A file in a zip, as the zip's directory describes it. */
export type Entry = Readonly<{
  name: string;
  method: number;
  packed: number;
  unpacked: number;
  offset: number;
  crc: number;
  isEncrypted: boolean;
  isLink: boolean;
}>;

const END_OF_DIRECTORY = Buffer.from([0x50, 0x4b, 0x05, 0x06]);
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
/** The size of the header before the bytes of an entry, without the name and the extra field. */
export const LOCAL_HEADER_BYTES = 30;
const ENCRYPTED = 0x1;
/** The upper half of the external attributes is a file's mode, if the archive was made on Unix. */
const [MODE_SHIFT, MODE_TYPE, MODE_LINK] = [16, 0o170000, 0o120000];
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
/** The average size of an entry in the directory, generous even for long names. */
const ENTRY_BYTES_MAX = 1024;
/** The end of a file that is searched for the position of the directory. */
export const ARCHIVE_END_BYTES_MAX = END_BYTES + COMMENT_BYTES_MAX;
const ZIP64 = 0xffffffff;
export const [STORED, DEFLATED] = [0, 8];

/**
 * The files in a zip in memory. The sizes in its directory are checked before anything is unpacked. An entry that unpacks to
 * another size is treated as damaged.
 */
export class Archive {
  private readonly entries: ReadonlyMap<string, Entry>;
  private bytesRead = 0;

  private constructor(
    private readonly filename: string,
    private readonly bytes: Buffer,
    entries: readonly Entry[],
    private readonly limits: ParsingLimits,
  ) {
    this.entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  /** @throws Rejection `document-unreadable`, `document-too-large` */
  static open(filename: string, data: Uint8Array, limits: ParsingLimits): Archive {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const end = bytes.subarray(Math.max(0, bytes.length - ARCHIVE_END_BYTES_MAX));
    const { offset, size } = findDirectory(filename, end, limits);
    const entries = readDirectory(filename, bytes.subarray(offset, offset + size), bytes.length, limits);
    return new Archive(filename, bytes, entries, limits);
  }

  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  /** The unpacked bytes of all files together. */
  get unpackedBytes(): number {
    return [...this.entries.values()].reduce((sum, { unpacked }) => sum + unpacked, 0);
  }

  /**
   * One file's bytes. Every read counts towards the limit, also of a file read before.
   * @throws Rejection `document-unreadable`, `document-too-large`
   */
  read(name: string): Buffer {
    const entry = this.entries.get(name);
    if (!entry) throw unreadable(this.filename, `an archive that holds ${name}`);
    this.bytesRead += entry.unpacked;
    if (this.bytesRead > this.limits.unpackedBytesMax)
      throw tooLarge(this.filename, `unpacked it would take ${this.bytesRead} bytes.`);
    try {
      return unpack(this.bytes, entry);
    } catch {
      throw unreadable(this.filename, 'an archive');
    }
  }

  text(name: string): string {
    return this.read(name)
      .toString('utf8')
      .replace(/^\ufeff/, '');
  }

  /** Reads one XML file tag by tag. @throws Rejection */
  readXml(name: string, handlers: XmlHandlers): void {
    try {
      readXml(this.text(name), this.limits.depthMax, handlers);
    } catch (error) {
      throw error instanceof TooDeep ? tooDeep(this.filename, this.limits.depthMax) : error;
    }
  }

  /** An archive of rewritten copies of all XML files, so that a library parses only what was checked here. @throws Rejection */
  copyOfXml(handlersOf: (name: string) => XmlHandlers): Buffer {
    const names = this.names.filter((name) => /\.(?:xml|rels)$/i.test(name));
    const copies = names.map((name) => [name, strToU8(this.copied(name, handlersOf(name)))] as const);
    return Buffer.from(zipSync(Object.fromEntries(copies), { level: 0 }));
  }

  private copied(name: string, handlers: XmlHandlers): string {
    const copy = new XmlCopy();
    try {
      this.readXml(name, copy.beside(handlers));
    } catch (error) {
      throw error instanceof NotCopied ? unreadable(this.filename, 'XML') : error;
    }
    return copy.xml;
  }
}

/** Finds the directory of a zip from the last bytes of the file. @throws Rejection */
export function findDirectory(filename: string, end: Buffer, limits: ParsingLimits): { offset: number; size: number } {
  const at = end.lastIndexOf(END_OF_DIRECTORY);
  if (at < 0 || at + END_BYTES > end.length) throw unreadable(filename, 'an archive');
  const [count, size, offset] = [end.readUInt16LE(at + 10), end.readUInt32LE(at + 12), end.readUInt32LE(at + 16)];
  const isTooLong = count > limits.archiveEntriesMax || size > limits.archiveEntriesMax * ENTRY_BYTES_MAX || offset === ZIP64;
  if (isTooLong) throw tooLarge(filename, `it holds more than ${limits.archiveEntriesMax} files inside.`);
  return { offset, size };
}

/** Reads the entries of a directory and checks their number and unpacked size. @throws Rejection */
export function readDirectory(filename: string, directory: Buffer, fileBytes: number, limits: ParsingLimits): readonly Entry[] {
  const entries: Entry[] = [];
  try {
    for (let at = 0; at < directory.length;) {
      const { entry, bytes } = readEntry(directory, at);
      if (!entry.name.endsWith('/')) entries.push(entry);
      if (entries.length > limits.archiveEntriesMax) break;
      at += bytes;
    }
  } catch {
    throw unreadable(filename, 'an archive');
  }
  const unpacked = entries.reduce((sum, entry) => sum + entry.unpacked, 0);
  if (unpacked > limits.unpackedBytesMax || unpacked > fileBytes * limits.unpackedRatioMax) {
    throw tooLarge(filename, `unpacked it would take ${unpacked} bytes.`);
  }
  if (entries.length > limits.archiveEntriesMax) {
    throw tooLarge(filename, `it holds more than ${limits.archiveEntriesMax} files inside.`);
  }
  return entries;
}

function readEntry(directory: Buffer, at: number): { entry: Entry; bytes: number } {
  if (directory.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error('No directory entry.');
  const nameBytes = directory.readUInt16LE(at + 28);
  const mode = directory.readUInt32LE(at + 38) >>> MODE_SHIFT;
  const entry = {
    isEncrypted: (directory.readUInt16LE(at + 8) & ENCRYPTED) !== 0,
    method: directory.readUInt16LE(at + 10),
    crc: directory.readUInt32LE(at + 16),
    isLink: (mode & MODE_TYPE) === MODE_LINK,
    packed: directory.readUInt32LE(at + 20),
    unpacked: directory.readUInt32LE(at + 24),
    offset: directory.readUInt32LE(at + 42),
    name: directory.toString('utf8', at + 46, at + 46 + nameBytes),
  };
  return { entry, bytes: 46 + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32) };
}

/** The position of an entry's packed bytes, from the header at its offset. @throws Error if there is no entry header */
export function packedStart(header: Buffer, { offset }: Entry): number {
  if (header.readUInt32LE(0) !== LOCAL_ENTRY) throw new Error('No entry.');
  return offset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
}

function unpack(bytes: Buffer, entry: Entry): Buffer {
  const start = packedStart(bytes.subarray(entry.offset, entry.offset + LOCAL_HEADER_BYTES), entry);
  if (start + entry.packed > bytes.length) throw new Error('Cut off.');
  const packed = bytes.subarray(start, start + entry.packed);
  if (entry.method === STORED && entry.packed === entry.unpacked) return packed;
  if (entry.method !== DEFLATED) throw new Error('Unknown method.');
  const unpacked = inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.unpacked) });
  if (unpacked.length !== entry.unpacked) throw new Error('Another size than announced.');
  return unpacked;
}
