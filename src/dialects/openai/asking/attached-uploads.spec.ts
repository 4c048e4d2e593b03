import { beforeEach, expect, it } from '@jest/globals';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { AttachmentShelf } from '../../../resources/attachments/attachment-shelf.port.js';
import type { AgentKeyCaller } from '../../../resources/identity/caller.js';
import { AttachedUploads, READING_MS_MAX } from './attached-uploads.js';

const caller = { kind: 'agent-key', ownerId: 'ann' } as AgentKeyCaller;
const notReady = () => new Rejection('attachment-not-ready', 'It is being read.');
const part = (place: string) => ({ place, filename: `${place}.txt`, bytes: Buffer.from(place) });

let timing: VirtualTiming;
/** The results of the successive checks of the attachments. The last one repeats. */
let looks: readonly ('read' | Error)[];
let picked: string[][];
let stored: string[];
let refusal: Error | undefined;
let uploads: AttachedUploads;
beforeEach(() => {
  timing = new VirtualTiming();
  [looks, picked, stored, refusal] = [['read'], [], [], undefined];
  const shelf = {
    pick: async (ids: readonly string[], [owner]: readonly string[]) => {
      expect(owner).toBe('ann');
      const look = looks[Math.min(picked.push([...ids]), looks.length) - 1]!;
      if (look !== 'read') throw look;
      return [];
    },
  };
  const store = async (filename: string) => {
    if (refusal) throw refusal;
    stored.push(filename);
    return `id of ${filename}`;
  };
  uploads = new AttachedUploads({ store }, shelf as unknown as AttachmentShelf, timing);
});

it('waits until all files are read, and returns their ids in order', async () => {
  looks = [notReady(), notReady(), 'read'];
  const ids = await uploads.idsOf([part('a'), { place: 'b', filename: '', attachmentId: 'b' }, part('c')], caller);
  expect(ids).toEqual(['id of a.txt', 'b', 'id of c.txt']);
  expect(picked).toEqual([ids, ids, ids]);
  expect(stored).toEqual(['a.txt', 'c.txt']);
});

it('fails when files are not read within the maximum time', async () => {
  looks = [notReady()];
  await expect(uploads.idsOf([part('a')], caller)).rejects.toMatchObject({ code: 'attachment-not-ready' });
  const last = timing.pauses.at(-1)!;
  expect(timing.elapsedMs()).toBeGreaterThan(READING_MS_MAX);
  expect(timing.elapsedMs()).toBeLessThanOrEqual(READING_MS_MAX + last);
});

it('does not wait for a file that has failed', async () => {
  looks = [new Rejection('attachment-failed', 'It is no picture.')];
  await expect(uploads.idsOf([part('a')], caller)).rejects.toMatchObject({ code: 'attachment-failed' });
  expect(timing.elapsedMs()).toBe(0);
});

it('names the part that is refused, and passes on errors of the store', async () => {
  refusal = new Rejection('attachment-type-not-supported', 'No such type.');
  await expect(uploads.idsOf([part('a')], caller)).rejects.toMatchObject({
    code: 'invalid-request',
    message: 'a cannot be taken: No such type.',
    details: { param: 'a' },
  });
  refusal = new Error('The disk is away.');
  await expect(uploads.idsOf([part('a')], caller)).rejects.toBe(refusal);
  expect(picked).toEqual([]);
});
