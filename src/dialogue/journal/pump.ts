import type { OpenedStream } from '../../platform/http/sse.js';
import type { FrameReading } from './message-feed.js';

/** Sends frames to one reader as they come, as fast as it takes them, then closes. Resolves when it has sent what there is. */
export async function pump(reading: FrameReading, sse: OpenedStream, sentBefore = 0): Promise<void> {
  let sent = sentBefore;
  for await (const batch of reading.available()) {
    if (!(await sse.write(batch.text))) break;
    sent += batch.data.length;
  }
  if (reading.whenMore(() => sse.proceed(() => pump(reading, sse, sent)))) return;
  if (sent === 0) await sse.comment('up-to-date');
  sse.end();
}
