import type { Readable } from 'node:stream';
import { Controller, HttpCode, Module, Post, Req } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { BOUNDARY, fileHead, FORM_END, formField, sendRaw } from '../../../../test/support/raw-upload.js';
import { readConfig } from '../../config/config.js';
import { createHttpApp } from '../http-server.js';
import { gatedParts, UNAUTHENTICATED_UPLOAD_BYTES_MAX } from './upload-gate.js';
import { UNREAD_BYTES_MAX } from './unread-bodies.js';

const MiB = 1024 * 1024;
/** Maximum number of bytes that the streams of the connection and of the form read ahead. */
const READ_AHEAD_BYTES_MAX = 256 * 1024;

type Field = Readonly<{ type: 'field'; fieldname: string; value: unknown }>;
type Part = Field | Readonly<{ type: 'file'; fieldname: string; file: Readable }>;

/** The fields and files that reached the route. */
const seen = { fields: [] as string[], files: [] as number[], fileBytes: 0 };

@Controller()
class Probe {
  @Post('api/files')
  @HttpCode(200)
  async files(@Req() request: FastifyRequest & { parts(): AsyncIterable<Part> }) {
    const isCredential = async ({ fieldname, value }: Field) => fieldname === 'api_key' && value === 'right';
    for await (const part of gatedParts(request.raw, request.parts(), isCredential)) {
      if (part.type === 'field') seen.fields.push(part.fieldname);
      else seen.files.push(await this.sizeOf(part.file));
    }
    return seen;
  }

  private async sizeOf(file: Readable): Promise<number> {
    const before = seen.fileBytes;
    for await (const piece of file) seen.fileBytes += (piece as Buffer).length;
    return seen.fileBytes - before;
  }
}

@Module({ controllers: [Probe] })
class ProbeModule {}

let app: NestFastifyApplication;
beforeAll(async () => {
  app = await createHttpApp(ProbeModule, { ...readConfig({}), readModels: [] }, { logger: false });
  await app.listen(0, '127.0.0.1');
});
afterAll(() => app.close());
beforeEach(() => void Object.assign(seen, { fields: [], files: [], fileBytes: 0 }));

const upload = (begin: string, fileBytes: number, { end = FORM_END, isPersistent = false } = {}) =>
  sendRaw(app.getHttpServer(), { path: '/api/files', begin, fileBytes, end, isPersistent });
const separator = '\r\n';

describe('a form without a credential', () => {
  it.each([
    ['in one file', fileHead()],
    ['in a field', `--${BOUNDARY}\r\nContent-Disposition: form-data; name="other"\r\n\r\n`],
    ['after a wrong credential', formField('api_key', 'wrong') + fileHead()],
    ['after many fields', formField('other', 'x'.repeat(20_000)).repeat(50) + fileHead()],
    ['in a second file', fileHead() + 'x'.repeat(MiB / 2) + separator + fileHead()],
    ['before its first part', ''],
  ])('is answered 401 at the limit, and the rest is not read: %s', async (_, begin) => {
    const { status, text } = await upload(begin, 50 * MiB);
    expect([status, text]).toEqual([401, expect.stringContaining('"message":"Authentication required')]);
    expect(seen.fileBytes).toBeLessThanOrEqual(UNAUTHENTICATED_UPLOAD_BYTES_MAX);
  });

  it('is disconnected when its client continues to send, after the response has arrived', async () => {
    const { status, taken } = await upload(fileHead(), 50 * MiB, { isPersistent: true });
    expect(status).toBe(401);
    // The server discards some bytes after the limit, so that a client that still sends can read the response.
    expect(taken).toBeLessThan(UNAUTHENTICATED_UPLOAD_BYTES_MAX + UNREAD_BYTES_MAX + READ_AHEAD_BYTES_MAX);
  });

  it('is accepted up to the limit, to the byte', async () => {
    const room = UNAUTHENTICATED_UPLOAD_BYTES_MAX - fileHead().length - FORM_END.length;
    expect((await upload(fileHead(), room)).status).toBe(200);
    expect(seen.files).toEqual([room]);
    expect((await upload(fileHead(), room + 1)).status).toBe(401);
  });
});

describe('a form with a credential', () => {
  it('before its file is accepted whole', async () => {
    expect((await upload(formField('api_key', 'right') + fileHead(), 5 * MiB)).status).toBe(200);
    expect(seen).toMatchObject({ fields: ['api_key'], files: [5 * MiB] });
  });

  it('between its files is accepted without a limit from there on', async () => {
    const begin = fileHead() + 'x'.repeat(1000) + separator + formField('api_key', 'right') + fileHead();
    expect((await upload(begin, 5 * MiB)).status).toBe(200);
    expect(seen).toMatchObject({ fields: ['api_key'], files: [1000, 5 * MiB] });
  });

  it('after its file is accepted when the whole form is within the limit', async () => {
    const end = separator + formField('api_key', 'right') + FORM_END.slice(2);
    expect((await upload(fileHead(), MiB / 2, { end })).status).toBe(200);
    expect(seen).toMatchObject({ fields: ['api_key'], files: [MiB / 2] });
    expect((await upload(fileHead(), MiB, { end })).status).toBe(401);
  });
});
