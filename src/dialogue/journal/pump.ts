import type { SseStream } from '../../platform/http/sse.js';
import type { FrameBatch } from './message-feed.js';

/** Sends frames to one reader, as fast as it takes them, then closes; returns how many it sent. */
export async function pump(frames: AsyncIterable<FrameBatch>, sse: SseStream): Promise<number> {
  let sent = 0;
  for await (const batch of frames) {
    if (!(await sse.write(batch.text))) break;
    sent += batch.data.length;
  }
  return sent;
}
