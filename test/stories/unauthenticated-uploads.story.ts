import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UNREAD_BYTES_MAX } from '../../src/platform/http/bodies/unread-bodies.js';
import { UNAUTHENTICATED_UPLOAD_BYTES_MAX } from '../../src/platform/http/bodies/upload-gate.js';
import type { MakeBacking } from '../support/backing.js';
import { textFile } from '../support/document-files.js';
import { formOf, send } from '../support/attachments.js';
import { fileHead, FORM_END, formField, type RawUpload, sendRaw } from '../support/raw-upload.js';
import { openWorld, type World } from '../support/world.js';

const MiB = 1024 * 1024;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
/** What a stream may have read ahead, on its way to the form and of the connection. */
const READ_AHEAD_BYTES_MAX = 256 * 1024;

/** Files of senders who do not show who they are, or show it late. */
export function unauthenticatedUploadsStory(makeBacking: MakeBacking): void {
  let world: World;
  let key: string;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    key = (await world.agent()).key;
  });
  afterAll(() => world.close());

  const server = () => world.service.service.app.getHttpServer();
  const staged = async () =>
    (await readdir(join(world.service.dataDir, 'uploads')).catch(() => [])).filter((name) => name.startsWith('upload-'));
  const raw = (upload: Partial<RawUpload>) =>
    sendRaw(server(), { path: '/api/store_attachment', begin: fileHead(), fileBytes: 50 * MiB, end: FORM_END, ...upload });
  const bad = { authorization: 'Bearer nonsense' };

  /** Where files are sent, as `METHOD path`. */
  const ROUTES = [
    'POST /api/upload',
    'POST /api/remote',
    'POST /api/store_attachment',
    'POST /api/create_agent',
    `PUT /api/update_agent/${UNKNOWN}`,
  ];

  it('takes of a file that nobody sends no more than the limit, says so, and keeps nothing', async () => {
    const before = await world.quietHead();
    const { status, text, taken } = await raw({ isPersistent: true });
    expect([status, text]).toEqual([401, expect.stringContaining('"message":"Authentication required')]);
    expect(taken).toBeLessThan(UNAUTHENTICATED_UPLOAD_BYTES_MAX + UNREAD_BYTES_MAX + READ_AHEAD_BYTES_MAX);
    expect([await world.quietHead(), await staged()]).toEqual([before, []]);
  });

  it('tells a client that is still sending', async () => {
    const large = { filename: 'a.txt', bytes: new Uint8Array(60 * MiB).fill(0x78) };
    const reply = await send(world.nobody, formOf([large], { api_key: key }));
    expect(reply).toMatchObject({ status: 401, body: { success: false } });
    expect(await staged()).toEqual([]);
  });

  it.each(ROUTES)('reads no file beside a bearer that is wrong: %s', async (route) => {
    const [method, path] = route.split(' ') as [string, string];
    const { status, text, taken } = await raw({ method, path, headers: bad, isPersistent: true });
    expect([status, text]).toEqual([401, expect.stringContaining('"error":"invalid_token"')]);
    expect(taken).toBeLessThan(UNREAD_BYTES_MAX + READ_AHEAD_BYTES_MAX);
  });

  it.each(ROUTES.filter((route) => !route.endsWith('store_attachment')))(
    'reads no file without a bearer where only users may send one: %s',
    async (route) => {
      const [method, path] = route.split(' ') as [string, string];
      const { status, text, taken } = await raw({ method, path, begin: fileHead('image'), isPersistent: true });
      expect([status, text]).toEqual([401, expect.stringContaining('Unauthorized')]);
      expect(taken).toBeLessThan(UNREAD_BYTES_MAX + READ_AHEAD_BYTES_MAX);
    },
  );

  it('reads no file behind a key that is wrong', async () => {
    for (const upload of [
      { begin: formField('api_key', UNKNOWN) + fileHead() },
      { path: `/api/store_attachment?api_key=${UNKNOWN}` },
      { headers: { 'x-api-key': UNKNOWN } },
    ]) {
      const { status, text, taken } = await raw({ ...upload, isPersistent: true });
      expect([status, text]).toEqual([401, expect.stringContaining('Invalid API key')]);
      expect(taken).toBeLessThan(UNREAD_BYTES_MAX + READ_AHEAD_BYTES_MAX);
    }
    expect(await staged()).toEqual([]);
  });

  describe('takes a whole file', () => {
    it.each([
      ['after the key', () => ({ begin: formField('api_key', key) + fileHead() })],
      ['with the key in the query', () => ({ path: `/api/store_attachment?api_key=${key}` })],
      ['with the key in a header', () => ({ headers: { 'x-api-key': key } })],
    ])('%s', async (_, upload) => {
      expect((await raw({ fileBytes: 5 * MiB, ...upload() })).status).toBe(200);
    });

    it('of a signed-in user, also beside a key that is no agent’s', async () => {
      const large = textFile('a.txt', 'x'.repeat(5 * MiB));
      expect((await send(world.alice, formOf([large], { api_key: 'unknown' }))).status).toBe(200);
    });

    it('before the key, as long as all of it is small', async () => {
      const end = `\r\n${formField('api_key', key)}${FORM_END.slice(2)}`;
      expect((await raw({ fileBytes: MiB / 2, end })).status).toBe(200);
      expect((await raw({ fileBytes: MiB, end })).status).toBe(401);
    });
  });

  it('takes every file where nobody signs in', async () => {
    await world.service.restart({ AUTH_TYPE: 'none' });
    expect((await raw({ fileBytes: 5 * MiB })).status).toBe(200);
  });
}
