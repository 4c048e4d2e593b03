import { readFile, stat } from 'node:fs/promises';
import type { Image } from '@napi-rs/canvas';
import type { Picture } from '../attachment-reader.port.js';
import { type PictureSize, pictureSizeOf } from '../picture-size.policy.js';
import { tooLarge, unreadable } from '../refusals.js';
import { PICTURE_BYTES_MAX, PICTURE_EDGE_PIXELS_MAX, PICTURE_PIXELS_MAX } from '../readable-files.policy.js';

/** The factor by which each round shrinks a picture until it is small enough. */
const SHRINKING = 0.7;
const ROUNDS_MAX = 12;
const QUALITY = 85;

/** Returns the picture itself or, if it is too large for a model, a smaller one. @throws Rejection */
export async function readPicture(filename: string, mimeType: string, bytes: Uint8Array<ArrayBuffer>): Promise<Picture> {
  const size = sizeOf(filename, mimeType, bytes);
  if (bytes.byteLength <= PICTURE_BYTES_MAX) return { mimeType, bytes: null };
  const { loadImage } = await import('@napi-rs/canvas');
  const image = await loadImage(bytes).catch(() => {
    throw unreadable(filename, mimeType);
  });
  let scale = Math.min(1, PICTURE_EDGE_PIXELS_MAX / Math.max(size.width, size.height));
  for (let round = 0; round < ROUNDS_MAX; round++, scale *= SHRINKING) {
    const smaller = await scaled(image, mimeType, scale);
    if (smaller.bytes!.byteLength <= PICTURE_BYTES_MAX) return smaller;
  }
  throw tooLarge(filename, `it cannot be brought down to ${PICTURE_BYTES_MAX} bytes.`);
}

/** Refuses a picture on disk that is damaged or has too many pixels. `readPicture` checks large files later. @throws Rejection */
export async function checkPicture(filename: string, mimeType: string, path: string): Promise<void> {
  const { size } = await stat(path);
  if (size <= PICTURE_BYTES_MAX) sizeOf(filename, mimeType, await readFile(path));
}

function sizeOf(filename: string, mimeType: string, bytes: Uint8Array): PictureSize {
  const size = pictureSizeOf(mimeType, bytes);
  if (!size) throw unreadable(filename, mimeType);
  if (size.width * size.height > PICTURE_PIXELS_MAX) throw tooLarge(filename, `it has more than ${PICTURE_PIXELS_MAX} pixels.`);
  return size;
}

/** A scaled copy of a picture. An animation is reduced to its first frame. */
async function scaled(image: Image, mimeType: string, scale: number): Promise<Picture> {
  const { createCanvas } = await import('@napi-rs/canvas');
  const [width, height] = [image.width, image.height].map((edge) => Math.max(1, Math.round(edge * scale))) as [number, number];
  const canvas = createCanvas(width, height);
  canvas.getContext('2d').drawImage(image, 0, 0, width, height);
  if (mimeType === 'image/jpeg') return { mimeType, bytes: new Uint8Array(await canvas.encode('jpeg', QUALITY)) };
  if (mimeType === 'image/webp') return { mimeType, bytes: new Uint8Array(await canvas.encode('webp', QUALITY)) };
  return { mimeType: 'image/png', bytes: new Uint8Array(await canvas.encode('png')) };
}
