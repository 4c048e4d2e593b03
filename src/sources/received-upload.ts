import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Rejection } from '../kernel/rejection.js';
import { storableText } from './storable-text.policy.js';

export type UploadLimits = Readonly<{ fileBytesMax: number; requestBytesMax: number }>;

/** A part of a form as it comes in: a file's bytes have to be read before the next part comes. */
export type FormPart =
  | Readonly<{ type: 'field'; fieldname: string; value: unknown }>
  | Readonly<{ type: 'file'; fieldname: string; filename?: string | undefined; file: Readable & { truncated?: boolean } }>;

export type StagedFile = Readonly<{ filename: string; path: string; sha256: string; size: number; open(): Readable }>;

export type ReceivedUpload = Readonly<{ fields: ReadonlyMap<string, string>; files: readonly StagedFile[] }>;

const FILE_FIELD = 'file';
const FILENAME_CHARACTERS_MAX = 255;

/** What a process that was killed left behind is removed once it is older than any upload may take. */
const ABANDONED_MS = 60 * 60 * 1000;

/**
 * A folder where uploads wait until they are whole. A form that breaks off, or is refused, leaves nothing: neither here nor
 * among the blobs, which are shared by content and so could not be taken back.
 */
export class UploadStaging {
  constructor(
    private readonly folder: string,
    private readonly limits: UploadLimits,
  ) {}

  /** Hands the whole form over, and removes its files when the work with it is done. @throws Rejection `too-large`, `invalid-request` */
  async receive<T>(parts: AsyncIterable<FormPart>, work: (upload: ReceivedUpload) => Promise<T>): Promise<T> {
    await mkdir(this.folder, { recursive: true });
    const folder = await mkdtemp(join(this.folder, 'upload-'));
    try {
      return await work(await this.stage(parts, folder).catch(asRefusal));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async removeAbandoned(now: Date): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const path = join(this.folder, name);
      const changed = (await stat(path).catch(() => undefined))?.mtimeMs;
      if (changed !== undefined && changed < now.getTime() - ABANDONED_MS) await rm(path, { recursive: true, force: true });
    }
  }

  private async stage(parts: AsyncIterable<FormPart>, folder: string): Promise<ReceivedUpload> {
    const fields = new Map<string, string>();
    const files: StagedFile[] = [];
    const names = new Set<string>();
    let bytes = 0;
    for await (const part of parts) {
      if (part.type === 'field') {
        if (typeof part.value === 'string') fields.set(part.fieldname, part.value);
      } else if (part.fieldname !== FILE_FIELD || !part.filename) {
        part.file.resume();
      } else {
        const file = await this.keep(part, uniqueName(part.filename, names), join(folder, String(files.length)), bytes);
        bytes += file.size;
        files.push(file);
      }
    }
    return { fields, files };
  }

  private async keep(
    { file }: Extract<FormPart, { type: 'file' }>,
    filename: string,
    path: string,
    before: number,
  ): Promise<StagedFile> {
    const { fileBytesMax, requestBytesMax } = this.limits;
    const hash = createHash('sha256');
    let size = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _, done) {
        size += chunk.length;
        hash.update(chunk);
        if (size > fileBytesMax) return done(tooLarge(`File exceeds the ${fileBytesMax}-byte upload limit`));
        if (before + size > requestBytesMax) return done(tooLarge(`Request exceeds the ${requestBytesMax}-byte upload limit`));
        done(null, chunk);
      },
    });
    await pipeline(file, counted, createWriteStream(path));
    if (file.truncated) throw tooLarge(`File exceeds the ${fileBytesMax}-byte upload limit`);
    return { filename, path, sha256: hash.digest('hex'), size, open: () => createReadStream(path) };
  }
}

/** How streams say that what they carry broke off, and the reader of forms that it ended before its end. */
const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'FST_MP_PREMATURE_CLOSE']);
const NOT_WHOLE = /unexpected end of multipart data|boundary not found|premature close|^aborted$/i;

/** The client's fault is refused; everything else, such as a full disk, is not its business. */
function asRefusal(error: unknown): never {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (!BROKEN_OFF.has(String(code)) && !NOT_WHOLE.test(String(message))) throw error;
  throw new Rejection('invalid-request', 'The form broke off before its end.');
}

const tooLarge = (text: string) => new Rejection('too-large', text);

/** The name without folders; one that is there already gets a number. */
function uniqueName(given: string, names: Set<string>): string {
  const name = storableText(basename(given.replaceAll('\\', '/'))).slice(-FILENAME_CHARACTERS_MAX);
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let unique = name;
  for (let number = 2; names.has(unique); number++) unique = `${stem} (${number})${ending}`;
  names.add(unique);
  return unique;
}
