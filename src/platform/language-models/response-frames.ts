import { EventStreamReader } from './event-stream-reader.js';

/** The frames of a streamed completion as they come. An endpoint that does not stream gives one, the whole. */
export async function* framesOf(response: Response): AsyncGenerator<string> {
  if (/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) {
    yield await response.text();
    return;
  }
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (!reader) return;
  const events = new EventStreamReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* done ? events.end() : events.read(value);
      if (done) return;
    }
  } finally {
    void drain(reader);
  }
}

/** Reads what is left, so that the connection can be used again; whoever made the request bounds how long that may take. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The request was ended: there is nothing to save.
  }
}
