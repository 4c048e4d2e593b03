import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { jetstream, type JetStreamManager } from '@nats-io/jetstream';
import { type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj';
import { BlobMissing, type BlobRef, Blobs, BlobsUnavailable, isBlobName } from '../../kernel/blobs.js';
import type { NatsConnection } from '../messaging/nats/nats-connection.js';
import { OnNats } from '../messaging/nats/on-nats.js';
import { meaningOf, writeHashedFile } from './hashed-file.js';
import { openUploads } from './uploads-folder.js';

type Bucket = Readonly<{ objects: ObjectStore; jsm: JetStreamManager; name: string }>;

const CHUNK_BYTES = 128 * 1024;

/**
 * Blobs in a NATS object store, named by hash. Incoming bytes are staged in a local file until the hash is known, so a broken
 * stream leaves nothing on the server.
 */
export class NatsBlobs extends Blobs {
  private readonly bucket: OnNats<Bucket>;
  private ready: Promise<void> | undefined;

  constructor(
    nats: NatsConnection,
    private readonly uploads = join(tmpdir(), 'verbatim-uploads'),
  ) {
    super();
    const name = `${nats.prefix}_blobs`;
    this.bucket = new OnNats(
      nats,
      async (client) => {
        const js = jetstream(client, { timeout: nats.deadlineMs });
        const objects = await new Objm(js).create(name, { replicas: nats.replicas });
        return { objects, jsm: await js.jetstreamManager(), name };
      },
      (cause) => new BlobsUnavailable('The store of blobs did not answer.', { cause }),
    );
  }

  async put(bytes: Readable): Promise<BlobRef> {
    const upload = join(this.uploads, randomUUID());
    try {
      await (this.ready ??= openUploads(this.uploads));
      const ref = await writeHashedFile(bytes, upload);
      await this.bucket.runLong((bucket) => send(bucket, upload, ref));
      return ref;
    } catch (error) {
      this.ready = undefined;
      throw meaningOf(error);
    } finally {
      bytes.destroy();
      await rm(upload, { force: true });
    }
  }

  async get(sha256: string): Promise<Readable> {
    const info = isBlobName(sha256) && (await this.bucket.run(({ objects }) => objects.info(sha256)));
    if (!info || info.deleted) throw new BlobMissing(`There is no blob ${sha256}.`);
    return Readable.from(this.chunks(info), { objectMode: false, highWaterMark: CHUNK_BYTES });
  }

  async delete(sha256: string): Promise<void> {
    if (!isBlobName(sha256)) return;
    await this.bucket.run(async ({ objects, jsm, name }) => {
      await objects.delete(sha256);
      // The client leaves a record of each deleted object, which the server would keep for ever.
      const left = await objects.info(sha256);
      if (left?.deleted) await jsm.streams.purge(`OBJ_${name}`, { filter: recordOf(name, sha256), seq: left.revision + 1 });
    });
  }

  /** Reads chunk by chunk. The client's own stream loads a whole object into memory if its reader is slow. */
  private async *chunks({ nuid, chunks, name }: ObjectInfo): AsyncGenerator<Uint8Array> {
    let next = 1;
    for (let index = 0; index < chunks; index++) {
      const chunk = await this.bucket.run(({ jsm, name: bucket }) =>
        jsm.direct.getMessage(`OBJ_${bucket}`, { next_by_subj: `$O.${bucket}.C.${nuid}`, seq: next }),
      );
      if (!chunk) throw new BlobMissing(`The blob ${name} was deleted while it was read.`);
      next = chunk.seq + 1;
      yield chunk.data;
    }
  }
}

/** The subject of an object's record, as the client names it. */
const recordOf = (bucket: string, name: string): string =>
  `$O.${bucket}.M.${Buffer.from(name).toString('base64').replaceAll('+', '-').replaceAll('/', '_')}`;

async function send(bucket: Bucket, path: string, ref: BlobRef): Promise<void> {
  const { objects } = bucket;
  const { sha256 } = ref;
  const before = await objects.info(sha256);
  if (before && !before.deleted) return;
  const bytes = Readable.toWeb(createReadStream(path, { highWaterMark: CHUNK_BYTES })) as ReadableStream<Uint8Array>;
  try {
    // The expected revision prevents two concurrent writes from leaving orphaned chunks.
    await objects.put({ name: sha256, options: { max_chunk_size: CHUNK_BYTES } }, bytes, {
      previousRevision: before?.revision ?? 0,
    });
  } catch (error) {
    const after = await objects.info(sha256).catch(() => undefined);
    // The record of the deleted object, whose revision was expected, was removed meanwhile.
    if (!after && before?.deleted) return send(bucket, path, ref);
    if (!after || after.deleted) throw error;
  }
}
