import { inflateRawSync } from 'node:zlib';
import type { ParsingLimits } from './limits.js';
import { tooLarge, unreadable } from './refusals.js';

type Entry = Readonly<{ name: string; method: number; packed: number; unpacked: number; offset: number }>;

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const ZIP64 = 0xffffffff;
const [STORED, DEFLATED] = [0, 8];

/**
 * The files inside a zip. What it says about its size is checked before anything is unpacked, and what it says is held
 * against what comes out: an entry that gives more than it announced is damaged.
 */
export class Archive {
  private readonly entries: ReadonlyMap<string, Entry>;

  private constructor(
    private readonly filename: string,
    private readonly bytes: Buffer,
    entries: readonly Entry[],
  ) {
    this.entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  /** @throws Rejection `document-unreadable`, `document-too-large` */
  static open(filename: string, data: Uint8Array, limits: ParsingLimits): Archive {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    let entries: readonly Entry[];
    try {
      entries = readDirectory(bytes, limits.archiveEntriesMax);
    } catch (error) {
      if (error instanceof TooManyEntries)
        throw tooLarge(filename, `it holds more than ${limits.archiveEntriesMax} files inside.`);
      throw unreadable(filename, 'an archive');
    }
    const unpacked = entries.reduce((sum, entry) => sum + entry.unpacked, 0);
    if (unpacked > limits.unpackedBytesMax || unpacked > bytes.length * limits.unpackedRatioMax) {
      throw tooLarge(filename, `unpacked it would take ${unpacked} bytes.`);
    }
    return new Archive(filename, bytes, entries);
  }

  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  /** One file's bytes. @throws Rejection `document-unreadable` */
  read(name: string): Buffer {
    const entry = this.entries.get(name);
    if (!entry) throw unreadable(this.filename, `an archive that holds ${name}`);
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

  /** Unpacks everything once, so that a library which trusts the announced sizes may be given the file. */
  verify(): void {
    for (const name of this.entries.keys()) this.read(name);
  }
}

class TooManyEntries extends Error {}

function readDirectory(bytes: Buffer, entriesMax: number): readonly Entry[] {
  const end = findEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (at === ZIP64 || count > entriesMax) throw new TooManyEntries();
  const entries: Entry[] = [];
  for (let index = 0; index < count; index++) {
    if (bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new Error('No directory entry.');
    const nameBytes = bytes.readUInt16LE(at + 28);
    const entry = {
      method: bytes.readUInt16LE(at + 10),
      packed: bytes.readUInt32LE(at + 20),
      unpacked: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
      name: bytes.toString('utf8', at + 46, at + 46 + nameBytes),
    };
    if (!entry.name.endsWith('/')) entries.push(entry);
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - COMMENT_BYTES_MAX);
  for (let at = bytes.length - END_BYTES; at >= first; at--) {
    if (bytes.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new Error('No end of directory.');
}

function unpack(bytes: Buffer, entry: Entry): Buffer {
  if (bytes.readUInt32LE(entry.offset) !== LOCAL_ENTRY) throw new Error('No entry.');
  const start = entry.offset + 30 + bytes.readUInt16LE(entry.offset + 26) + bytes.readUInt16LE(entry.offset + 28);
  if (start + entry.packed > bytes.length) throw new Error('Cut off.');
  const packed = bytes.subarray(start, start + entry.packed);
  if (entry.method === STORED && entry.packed === entry.unpacked) return packed;
  if (entry.method !== DEFLATED) throw new Error('Unknown method.');
  const unpacked = inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.unpacked) });
  if (unpacked.length !== entry.unpacked) throw new Error('Another size than announced.');
  return unpacked;
}
