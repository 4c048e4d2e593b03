import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { type BlobRef, BlobsUnavailable } from '../../src/kernel/blobs.js';
import { NatsBlobs } from '../../src/platform/blobs/nats-blobs.js';
import { NatsConnection } from '../../src/platform/messaging/nats/nats-connection.js';
import { eventually } from '../support/eventually.js';
import { NatsServer } from '../support/nats-server.js';
import { retryWhile } from '../support/retry-while.js';
import { blobsContract } from './blobs.contract.js';

const putWithRetry = (blobs: NatsBlobs, content: string | Buffer): Promise<BlobRef> =>
  retryWhile(BlobsUnavailable, () => blobs.put(Readable.from([content])));

let server: NatsServer;
beforeAll(async () => (server = await NatsServer.start()));
afterAll(() => server.stop());

describe('blobs in a NATS object store', () => {
  blobsContract(async () => {
    const [one, two] = [new NatsConnection({ url: server.url }), new NatsConnection({ url: server.url })];
    const uploads = await mkdtemp(join(tmpdir(), 'verbatim-uploads-'));
    return {
      here: new NatsBlobs(one, uploads),
      there: new NatsBlobs(two, uploads),
      kept: async () => (await chunksOf(one)) + (await readdir(uploads)).length,
      close: async () => {
        await Promise.all([one.close(), two.close()]);
        await rm(uploads, { recursive: true });
      },
    };
  });
});

/** The number of uploads that have chunks on the server. */
async function chunksOf(nats: NatsConnection): Promise<number> {
  const jsm = await jetstreamManager(await nats.ready());
  const { state } = await jsm.streams.info('OBJ_verbatim_blobs', { subjects_filter: '$O.verbatim_blobs.C.>' });
  return Object.keys(state.subjects ?? {}).length;
}

it('leave nothing on the server when they are deleted, and can be stored again', async () => {
  const nats = new NatsConnection({ url: server.url, prefix: 'deleting' });
  const blobs = new NatsBlobs(nats);
  const texts = ['one', 'two', 'three'];
  const stored = await Promise.all(texts.map((text) => blobs.put(Readable.from([text]))));
  const messages = async () => {
    const jsm = await jetstreamManager(await nats.ready());
    return (await jsm.streams.info('OBJ_deleting_blobs')).state.messages;
  };
  expect(await messages()).toBe(2 * texts.length);
  for (const { sha256 } of stored) await blobs.delete(sha256);
  expect(await messages()).toBe(0);
  const { sha256 } = await blobs.put(Readable.from(['one']));
  expect((await buffer(await blobs.get(sha256))).toString()).toBe('one');
  await nats.close();
});

it('are stored while they are deleted repeatedly', async () => {
  const nats = new NatsConnection({ url: server.url, prefix: 'racing' });
  const blobs = new NatsBlobs(nats);
  const put = () => blobs.put(Readable.from(['contested']));
  const { sha256 } = await put();
  for (let round = 0; round < 30; round++) {
    await Promise.all([blobs.delete(sha256), put(), blobs.delete(sha256), put(), put()]);
    await put();
    expect((await buffer(await blobs.get(sha256))).toString()).toBe('contested');
  }
  await nats.close();
});

it('report promptly that the store is unavailable, and have their content when it is back', async () => {
  const own = await NatsServer.start();
  const nats = new NatsConnection({ url: own.url, deadlineMs: 3_000 });
  const blobs = new NatsBlobs(nats);
  const { sha256 } = await putWithRetry(blobs, 'kept');
  await own.kill();
  await expect(blobs.put(Readable.from(['new']))).rejects.toThrow(BlobsUnavailable);
  await expect(blobs.get(sha256)).rejects.toThrow(BlobsUnavailable);
  await own.restart();
  await eventually(async () => (await buffer(await blobs.get(sha256))).toString() === 'kept');
  expect((await blobs.put(Readable.from(['new']))).size).toBe(3);
  await nats.close();
  await own.stop();
});

it('fail a reader whose server crashes during a read', async () => {
  const own = await NatsServer.start();
  const nats = new NatsConnection({ url: own.url, deadlineMs: 3_000 });
  const blobs = new NatsBlobs(nats);
  const { sha256 } = await putWithRetry(blobs, Buffer.alloc(8 * 1024 * 1024));
  const stream = await blobs.get(sha256);
  await expect(
    (async () => {
      let isFirst = true;
      for await (const _ of stream) {
        if (isFirst) await own.kill();
        isFirst = false;
      }
    })(),
  ).rejects.toThrow(BlobsUnavailable);
  await nats.close();
  await own.stop();
});
