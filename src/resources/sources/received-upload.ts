import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Rejection } from '../../kernel/rejection.js';
import { refuseIncompleteForm, refuseUnreadableField } from '../../kernel/form-refusals.js';
import { storableText } from '../documents/storable-text.policy.js';
import {
  type FilesOfUpload,
  type FormPart,
  type OversizedFile,
  type ReceivedUpload,
  type StagedFile,
  type UploadLimits,
  UploadStaging,
} from '../../platform/blobs/upload-staging.port.js';

const FILE_FIELD = 'file';
const FILENAME_CHARACTERS_MAX = 255;

type FilePart = Extract<FormPart, { type: 'file' }>;

/** The age at which folders of killed processes are removed. No upload takes this long. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Stages each upload in a temporary folder. */
export class UploadStagingFolder extends UploadStaging {
  constructor(
    private readonly folder: string,
    private readonly limits: UploadLimits,
  ) {
    super();
  }

  async receive<T>(
    parts: AsyncIterable<FormPart>,
    work: (upload: ReceivedUpload) => Promise<T>,
    files: FilesOfUpload = 'as-one',
  ): Promise<T> {
    await mkdir(this.folder, { recursive: true });
    const folder = await mkdtemp(join(this.folder, 'upload-'));
    try {
      return await work(await this.stage(parts, folder, files).catch(refuseIncompleteForm));
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

  private async stage(parts: AsyncIterable<FormPart>, folder: string, kept: FilesOfUpload): Promise<ReceivedUpload> {
    const fields = new Map<string, string>();
    const files: StagedFile[] = [];
    const oversized: OversizedFile[] = [];
    const names = new Set<string>();
    let bytes = 0;
    for await (const part of parts) {
      if (part.type === 'field') {
        refuseUnreadableField(part.fieldname, part.value);
        if (typeof part.value === 'string') fields.set(part.fieldname, part.value);
      } else if (part.fieldname !== FILE_FIELD || !part.filename) {
        bytes += await this.letGo(part, bytes);
      } else {
        const place = files.length + oversized.length;
        const filename = kept === 'as-one' ? uniqueName(part.filename, names) : plainName(part.filename);
        const file = await this.keep(part, { place, filename, path: join(folder, String(place)) }, bytes);
        bytes += file.size;
        if (!file.reason) files.push(file);
        else if (kept === 'as-one') throw tooLarge(file.reason);
        else oversized.push({ place, filename, reason: file.reason });
      }
    }
    return { fields, files, oversized };
  }

  /** Drops an unexpected part, and counts it towards the limit of the request. */
  private async letGo({ file }: FilePart, before: number): Promise<number> {
    let size = 0;
    for await (const chunk of file) {
      size += (chunk as Buffer).length;
      if (before + size > this.limits.requestBytesMax) throw this.requestTooLarge();
    }
    return size;
  }

  private requestTooLarge(): Rejection {
    return tooLarge(`Request exceeds the ${this.limits.requestBytesMax}-byte upload limit`);
  }

  /** Writes a part to disk. `reason` is set if the file was too large and has been removed. */
  private async keep(
    { file }: FilePart,
    staged: Pick<StagedFile, 'place' | 'filename' | 'path'>,
    before: number,
  ): Promise<StagedFile & { reason?: string }> {
    const { fileBytesMax, requestBytesMax } = this.limits;
    const { path } = staged;
    const hash = createHash('sha256');
    let size = 0;
    const counted = new Transform({
      transform: (chunk: Buffer, _, done) => {
        size += chunk.length;
        hash.update(chunk);
        if (before + size > requestBytesMax) return done(this.requestTooLarge());
        done(null, size > fileBytesMax ? undefined : chunk);
      },
    });
    await pipeline(file, counted, createWriteStream(path));
    const isTooLarge = size > fileBytesMax || file.truncated;
    if (isTooLarge) await rm(path);
    const reason = isTooLarge ? { reason: `File exceeds the ${fileBytesMax}-byte upload limit` } : {};
    return { ...staged, sha256: hash.digest('hex'), size, open: () => createReadStream(path), ...reason };
  }
}

const tooLarge = (text: string) => new Rejection('too-large', text);

/** The name without folders. */
const plainName = (given: string): string =>
  storableText(basename(given.replaceAll('\\', '/')).slice(-FILENAME_CHARACTERS_MAX)) || 'file';

/** The name, with a number added if another file has the same name. */
function uniqueName(given: string, names: Set<string>): string {
  const name = plainName(given);
  const dot = name.lastIndexOf('.');
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
  let unique = name;
  for (let number = 2; names.has(unique); number++) unique = `${stem} (${number})${ending}`;
  names.add(unique);
  return unique;
}
