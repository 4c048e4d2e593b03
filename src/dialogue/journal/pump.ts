import type { OpenedStream } from '../../platform/http/reader-stream.js';
import type { FrameReading } from './message-feed.js';

/** Sends frames to a reader as fast as it accepts them, and then closes the stream. Resolves after the frames so far are sent. */
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
