import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BlobMissing, type Blobs } from '../../src/kernel/blobs.js';
import { eventually } from '../support/eventually.js';

/** `here` and `there` are two parts of the service, in two processes if the adapter spans processes. */
export type BlobsUnderTest = Readonly<{
  here: Blobs;
  there: Blobs;
  /** The number of stored blobs, including unfinished ones. */
  kept: () => Promise<number>;
  close: () => Promise<void>;
}>;

const MEBIBYTE = 1024 * 1024;
const LARGE_MIB = 128;
/** The limit of memory for such a blob, including garbage that is not collected yet, which depends on the version of Node. */
const HELD_BYTES_MAX = (LARGE_MIB * MEBIBYTE) / 2;

export function blobsContract(setUp: () => Promise<BlobsUnderTest>): void {
  let blobs: BlobsUnderTest;
  let here: Blobs;
  let there: Blobs;
  beforeAll(async () => {
    blobs = await setUp();
    ({ here, there } = blobs);
  });
  afterAll(() => blobs.close());

  const put = (bytes: string | Buffer) => here.put(Readable.from([Buffer.from(bytes)]));
  const read = async (sha256: string) => buffer(await there.get(sha256));

  it('return what was put, under the hash of its content', async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, n) => n % 251));
    const ref = await put(bytes);
    expect(ref).toEqual({ sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length });
    expect((await read(ref.sha256)).equals(bytes)).toBe(true);
  });

  it('store an empty blob', async () => {
    const ref = await here.put(Readable.from([]));
    expect(ref.size).toBe(0);
    expect(await read(ref.sha256)).toHaveLength(0);
  });

  it('store equal bytes once, even if they are put several times at once', async () => {
    const before = await blobs.kept();
    const refs = await Promise.all(
      Array.from({ length: 6 }, (_, n) => (n % 2 ? here : there).put(Readable.from(['the same ', 'bytes']))),
    );
    expect(new Set(refs.map(({ sha256 }) => sha256)).size).toBe(1);
    await put('the same bytes');
    expect(await blobs.kept()).toBe(before + 1);
    expect((await read(refs[0]!.sha256)).toString()).toBe('the same bytes');
  });

  it('report an unknown blob and an invalid name as missing', async () => {
    await expect(there.get('0'.repeat(64))).rejects.toThrow(BlobMissing);
    for (const name of ['', '../../../etc/passwd', 'A'.repeat(64)]) await expect(there.get(name)).rejects.toThrow(BlobMissing);
  });

  it('delete a blob, even repeatedly, and accept the same bytes afterwards', async () => {
    const [ref, other] = [await put('to be deleted'), await put('to stay')];
    await there.delete(ref.sha256);
    await there.delete(ref.sha256);
    await there.delete('../../etc');
    await expect(here.get(ref.sha256)).rejects.toThrow(BlobMissing);
    expect((await read(other.sha256)).toString()).toBe('to stay');
    expect(await put('to be deleted')).toEqual(ref);
    expect((await read(ref.sha256)).toString()).toBe('to be deleted');
  });

  it('keep nothing of a stream that fails', async () => {
    const before = await blobs.kept();
    const failing = Readable.from(
      (async function* () {
        yield Buffer.alloc(2 * MEBIBYTE);
        throw new Error('The client went away.');
      })(),
    );
    await expect(here.put(failing)).rejects.toThrow('The client went away.');
    expect(await blobs.kept()).toBe(before);
  });

  it('keep nothing of a stream that is destroyed without an error', async () => {
    const before = await blobs.kept();
    const cut = new Readable({ read: () => undefined });
    cut.push(Buffer.alloc(MEBIBYTE));
    setTimeout(() => cut.destroy(), 20);
    await expect(here.put(cut)).rejects.toThrow();
    expect(await blobs.kept()).toBe(before);
  });

  it('let a reader stop early', async () => {
    const ref = await put(Buffer.alloc(4 * MEBIBYTE, 'x'));
    const stream = await there.get(ref.sha256);
    for await (const chunk of stream) {
      expect((chunk as Buffer).length).toBeGreaterThan(0);
      break;
    }
    expect(stream.destroyed).toBe(true);
  });

  it(`stream ${LARGE_MIB} MiB in and out, to a slow reader, without holding it in memory`, async () => {
    const piece = Buffer.alloc(MEBIBYTE, 'verbatim ');
    const start = memory();
    let most = 0;
    const watch = () => (most = Math.max(most, memory() - start));
    const ref = await here.put(
      Readable.from(
        (async function* () {
          for (let n = 0; n < LARGE_MIB; n++) {
            watch();
            yield piece;
          }
        })(),
      ),
    );
    expect(ref.size).toBe(LARGE_MIB * MEBIBYTE);
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of await there.get(ref.sha256)) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
      watch();
      if (size % (16 * MEBIBYTE) < 128 * 1024) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(hash.digest('hex')).toBe(ref.sha256);
    expect(most).toBeLessThan(HELD_BYTES_MAX);
    // Deleting this much may take longer than the store may take for one answer.
    await eventually(() => here.delete(ref.sha256).then(() => true));
  });
}

/** The memory of buffers outside the heap, where a stream would pile up. */
const memory = (): number => process.memoryUsage().arrayBuffers;
