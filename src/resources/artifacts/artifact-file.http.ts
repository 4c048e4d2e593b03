import { StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { ArtifactVersionRecord } from '../../../projections/artifacts/artifacts.queries.js';
import { BlobMissing, type Blobs } from '../../kernel/blobs.js';
import { Rejection } from '../../kernel/rejection.js';
import { contentOf } from './artifact-blobs.js';

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;

export const fileNotFound = () => new Rejection('artifact-version-not-found', 'File not found');

/** Sends the file of a version as a download, so that a browser never shows a file written by code as a page of the service. */
export async function sendFile(
  reply: FastifyReply,
  blobs: Blobs,
  { filename, mimeType, size, blob }: ArtifactVersionRecord,
): Promise<StreamableFile> {
  const content = await contentOf(blobs, { blob }).catch((error: unknown) => {
    throw error instanceof BlobMissing ? fileNotFound() : error;
  });
  void reply
    .header('X-Content-Type-Options', 'nosniff')
    .header('Content-Security-Policy', "default-src 'none'; sandbox")
    .header('Cache-Control', 'private, no-store');
  return new StreamableFile(content, {
    type: MEDIA_TYPE.test(mimeType) ? mimeType : 'application/octet-stream',
    disposition: dispositionOf(filename),
    length: size,
  });
}

/** Offers the last part of the name twice: reduced to the ASCII characters that a header allows, and encoded exactly. */
function dispositionOf(filename: string): string {
  const name = filename.split('/').at(-1)!;
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const exact = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
