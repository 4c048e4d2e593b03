import { EventStreamReader } from './event-stream-reader.js';
import { StreamedResponse } from './streamed-response.js';

/** Frames read ahead of their consumer; past it the endpoint has to wait. */
const FRAMES_AHEAD_MAX = 256;

/** The frames of a streamed completion as they come. An endpoint that does not stream gives one, the whole. */
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

/** Frames that have come and were not taken yet. */
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
    // Destroyed without a word, a body neither ends nor fails.
    pieces.once('close', () => this.end());
  }

  /** Nothing is left and nothing comes. @throws what broke the stream off */
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

  /** What still comes is read and dropped, so that the connection can be used again; the caller bounds how long that may take. */
  leave(): void {
    this.left = true;
    this.frames = [];
    this.pieces.resume();
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
