import type { Readable } from 'node:stream';
import { Rejection } from '../../../kernel/rejection.js';

export type BodyBounds = Readonly<{
  bytesMax: number;
  /** The value of `Content-Length`, if the client sent it. */
  declared: number | undefined;
}>;

/**
 * Receives a body. Each chunk is checked by `look` before it is kept, and the first refusal ends the reading.
 * @throws Rejection too-large, and what `look` throws
 */
export function receiveBody(body: Readable, { bytesMax, declared }: BodyBounds, look: (piece: Buffer) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    const onData = (piece: Buffer): void => {
      size += piece.length;
      if (size > bytesMax) return refuse(tooLarge(bytesMax));
      try {
        look(piece);
      } catch (error) {
        return refuse(error as Error);
      }
      pieces.push(piece);
    };
    const onEnd = (): void => {
      leave();
      resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, size));
    };
    const onGone = (): void => refuse(new Rejection('invalid-request', 'The request body ended before it was complete.'));
    const leave = (): unknown => body.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
    const refuse = (error: Error): void => {
      leave();
      body.pause();
      reject(error);
    };
    if (declared !== undefined && declared > bytesMax) return refuse(tooLarge(bytesMax));
    body.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

const tooLarge = (bytesMax: number) => new Rejection('too-large', `The request body is larger than ${bytesMax} bytes.`);
