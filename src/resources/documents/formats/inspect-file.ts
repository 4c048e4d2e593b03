import { type FileHandle, open } from 'node:fs/promises';
import { ARCHIVE_END_BYTES_MAX, type Entry, findDirectory, readDirectory } from './archive.js';
import { kindOf } from './file-kind.js';
import type { ParsingLimits } from '../limits.js';
import { tooLarge } from '../refusals.js';
import { refuseDamagedHead, refuseOtherArchive } from './visible-damage.js';

const ARCHIVES = new Set(['docx', 'epub', 'pptx', 'xlsx']);

/** The bytes at the beginning of a file from which its kind is detected. */
export const HEAD_BYTES = 4100;

/** Checks a file on disk: its kind, size, first bytes and unpacked size. Reads only little of it. @throws Rejection */
export async function checkFile(filename: string, path: string, limits: ParsingLimits): Promise<void> {
  await inspectFile(filename, path, limits, async (head) => ({ kind: await kindOf(filename, head) }));
}

/** Determines the kind of a file on disk and checks its size, first bytes and unpacked size. @throws Rejection */
export async function inspectFile<Kind extends Readonly<{ kind: string }>>(
  filename: string,
  path: string,
  limits: ParsingLimits,
  kindOfHead: (head: Uint8Array) => Promise<Kind>,
): Promise<Kind> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > limits.fileBytesMax) throw tooLarge(filename, `it is larger than ${limits.fileBytesMax} bytes.`);
    const head = await bytesAt(file, 0, Math.min(size, HEAD_BYTES));
    const known = await kindOfHead(head);
    refuseDamagedHead(filename, known.kind, { bytes: head, isWhole: size <= HEAD_BYTES });
    if (!ARCHIVES.has(known.kind)) return known;
    const entries = await entriesOf(file, filename, limits);
    refuseOtherArchive(filename, known.kind, new Set(entries.map(({ name }) => name)));
    return known;
  } finally {
    await file.close();
  }
}

/** The entries of a zip on disk, from its directory. @throws Rejection */
export async function entriesOf(file: FileHandle, filename: string, limits: ParsingLimits): Promise<readonly Entry[]> {
  const { size } = await file.stat();
  const endBytes = Math.min(size, ARCHIVE_END_BYTES_MAX);
  const directory = findDirectory(filename, await bytesAt(file, size - endBytes, endBytes), limits);
  return readDirectory(filename, await bytesAt(file, directory.offset, directory.size), size, limits);
}

export async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer.subarray(0, bytesRead);
}
