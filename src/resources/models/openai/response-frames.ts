import { EventStreamReader } from './event-stream-reader.js';
import { StreamedResponse } from './streamed-response.js';

/** Maximum number of buffered frames. Beyond it, reading pauses and TCP slows the endpoint down. */
const FRAMES_AHEAD_MAX = 256;
/** Time that the endpoint has to end the response after its reader has left. */
export const LINGER_MS = 1_000;

/** Yields the frames of a streamed completion as they arrive. A response that is not streamed yields one frame. */
export async function* framesOf(response: Response): AsyncGenerator<string> {
  if (!(response instanceof StreamedResponse)) {
    yield await response.text();
    return;
  }
  const inbox = new Inbox(response);
  try {
    for (;;) {
      yield* inbox.take();
      if (inbox.isOver) return;
      await inbox.more();
    }
  } finally {
    inbox.leave();
  }
}

/** Buffers the frames that have arrived but were not consumed yet. */
class Inbox {
  private readonly events = new EventStreamReader();
  private readonly pieces: StreamedResponse['pieces'];
  private frames: string[] = [];
  private failure: Error | undefined;
  private ended = false;
  private left = false;
  private wake: (() => void) | undefined;

  constructor({ pieces }: StreamedResponse) {
    this.pieces = pieces;
    pieces.on('data', (piece: Buffer) => this.receive(() => this.events.read(piece)));
    pieces.once('end', () => {
      this.receive(() => this.events.end());
      this.end();
    });
    pieces.on('error', (error: Error) => this.end(error));
    // A body that is destroyed without an error emits neither `end` nor `error`.
    pieces.once('close', () => this.end());
  }

  /** Whether the stream has ended and all frames were consumed. @throws the error that ended the stream */
  get isOver(): boolean {
    if (this.frames.length > 0 || !this.ended) return false;
    if (this.failure) throw this.failure;
    return true;
  }

  take(): readonly string[] {
    const frames = this.frames;
    this.frames = [];
    if (this.pieces.isPaused()) this.pieces.resume();
    return frames;
  }

  more(): Promise<void> {
    if (this.frames.length > 0 || this.ended) return Promise.resolve();
    return new Promise((resolve) => (this.wake = resolve));
  }

  /** Reads and drops the rest, so that the connection can be reused, and ends it if that takes too long. */
  leave(): void {
    const { pieces } = this;
    this.left = true;
    this.frames = [];
    pieces.resume();
    if (pieces.closed) return;
    const limit = setTimeout(() => pieces.destroy(), LINGER_MS).unref();
    pieces.once('close', () => clearTimeout(limit));
  }

  private receive(read: () => readonly string[]): void {
    if (this.left || this.ended) return;
    try {
      this.frames.push(...read());
    } catch (error) {
      return this.end(error as Error);
    }
    if (this.frames.length > FRAMES_AHEAD_MAX) this.pieces.pause();
    this.wake?.();
  }

  private end(failure?: Error): void {
    if (this.ended) return;
    this.ended = true;
    this.failure = failure;
    this.wake?.();
  }
}
