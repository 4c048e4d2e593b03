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
/** The number of bytes that streams may read ahead between the connection and the form. */
const READ_AHEAD_BYTES_MAX = 256 * 1024;

/** Uploads of senders without valid credentials, or with late ones. */
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

  /** The routes that accept files, as `METHOD path`. */
  const ROUTES = [
    'POST /api/upload',
    'POST /api/remote',
    'POST /api/store_attachment',
    'POST /api/create_agent',
    `PUT /api/update_agent/${UNKNOWN}`,
  ];

  it('reads an upload without a sender only up to the limit, reports it, and stores nothing', async () => {
    const before = await world.quietHead();
    const { status, text, taken } = await raw({ isPersistent: true });
    expect([status, text]).toEqual([401, expect.stringContaining('"message":"Authentication required')]);
    expect(taken).toBeLessThan(UNAUTHENTICATED_UPLOAD_BYTES_MAX + UNREAD_BYTES_MAX + READ_AHEAD_BYTES_MAX);
    expect([await world.quietHead(), await staged()]).toEqual([before, []]);
  });

  it('responds to a client that is still sending', async () => {
    const large = { filename: 'a.txt', bytes: new Uint8Array(60 * MiB).fill(0x78) };
    const reply = await send(world.nobody, formOf([large], { api_key: key }));
    expect(reply).toMatchObject({ status: 401, body: { success: false } });
    expect(await staged()).toEqual([]);
  });

  it.each(ROUTES)('reads no file with a wrong bearer: %s', async (route) => {
    const [method, path] = route.split(' ') as [string, string];
    const { status, text, taken } = await raw({ method, path, headers: bad, isPersistent: true });
    expect([status, text]).toEqual([401, expect.stringContaining('"error":"invalid_token"')]);
    expect(taken).toBeLessThan(UNREAD_BYTES_MAX + READ_AHEAD_BYTES_MAX);
  });

  it.each(ROUTES.filter((route) => !route.endsWith('store_attachment')))(
    'reads no file without a bearer on routes for users: %s',
    async (route) => {
      const [method, path] = route.split(' ') as [string, string];
      const { status, text, taken } = await raw({ method, path, begin: fileHead('image'), isPersistent: true });
      expect([status, text]).toEqual([401, expect.stringContaining('Unauthorized')]);
      expect(taken).toBeLessThan(UNREAD_BYTES_MAX + READ_AHEAD_BYTES_MAX);
    },
  );

  it('reads no file after a wrong key', async () => {
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

  describe('accepts a whole file', () => {
    it.each([
      ['after the key', () => ({ begin: formField('api_key', key) + fileHead() })],
      ['with the key in the query', () => ({ path: `/api/store_attachment?api_key=${key}` })],
      ['with the key in a header', () => ({ headers: { 'x-api-key': key } })],
    ])('%s', async (_, upload) => {
      expect((await raw({ fileBytes: 5 * MiB, ...upload() })).status).toBe(200);
    });

    it('of a signed-in user, even with a key that is unknown', async () => {
      const large = textFile('a.txt', 'x'.repeat(5 * MiB));
      expect((await send(world.alice, formOf([large], { api_key: 'unknown' }))).status).toBe(200);
    });

    it('before the key, if all of it is small', async () => {
      const end = `\r\n${formField('api_key', key)}${FORM_END.slice(2)}`;
      expect((await raw({ fileBytes: MiB / 2, end })).status).toBe(200);
      expect((await raw({ fileBytes: MiB, end })).status).toBe(401);
    });
  });

  it('accepts every file if there is no sign-in', async () => {
    await world.service.restart({ AUTH_TYPE: 'none' });
    expect((await raw({ fileBytes: 5 * MiB })).status).toBe(200);
  });
}
