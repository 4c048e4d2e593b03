import { crc32 } from 'node:zlib';
import { createCanvas } from '@napi-rs/canvas';
import type { DocumentFile } from '../../src/resources/documents/document.port.js';

const fileOf = (filename: string, bytes: Uint8Array): DocumentFile => ({ filename, bytes: new Uint8Array(bytes) });

function canvasOf(width: number, height: number, noise: boolean) {
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = 'rebeccapurple';
  context.fillRect(0, 0, width, height);
  if (noise) {
    const pixels = context.createImageData(width, height);
    let seed = 1;
    for (let at = 0; at < pixels.data.length; at++) {
      seed ^= seed << 13;
      seed ^= seed >>> 17;
      seed ^= seed << 5;
      pixels.data[at] = at % 4 === 3 ? 255 : seed & 255;
    }
    context.putImageData(pixels, 0, 0);
  }
  return canvas;
}

/** A PNG of one colour, or of noise that does not compress. */
export const pngFile = (filename: string, width = 4, height = 3, { noise = false } = {}): DocumentFile =>
  fileOf(filename, canvasOf(width, height, noise).encodeSync('png'));

export const jpegFile = (filename: string, width = 4, height = 3): DocumentFile =>
  fileOf(filename, canvasOf(width, height, false).encodeSync('jpeg'));

export const webpFile = (filename: string, width = 4, height = 3): DocumentFile =>
  fileOf(filename, canvasOf(width, height, false).encodeSync('webp'));

/** The smallest GIF there is. */
export const gifFile = (filename: string): DocumentFile =>
  fileOf(filename, Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'));

/** A PNG whose header states a size but which has no such pixels. */
export function boastfulPngFile(filename: string, width: number, height: number): DocumentFile {
  const { bytes } = pngFile(filename);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  view.setUint32(29, crc32(bytes.subarray(12, 29)));
  return { filename, bytes };
}
