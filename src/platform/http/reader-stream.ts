import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { Departure } from '../../kernel/departure.js';
import { unsentBytesOf } from './connections/stalled-responses.js';
import { failureOf } from './errors.js';

export type SseLimits = Readonly<{
  /** A comment is sent after this long without data. */
  keepaliveMs: number;
  /** A reader that accepts no bytes for this long is disconnected. It can resume from its last id. */
  stallMs: number;
  /** Maximum unsent bytes of a reader. A reader with more when new bytes arrive is disconnected. */
  bufferedBytesMax: number;
}>;

/** The stream of one reader. It sends rendered bytes unchanged. */
export type SseStream = Readonly<{
  /** Aborts when the stream has ended, on either side. */
  signal: AbortSignal;
  /** Resolves to true when the stream accepts more, and to false when it has ended. Never rejects. */
  write(bytes: string): Promise<boolean>;
  /** Sends a comment line, which parsers skip. */
  comment(text: string): Promise<boolean>;
  /** Sends the remaining bytes and closes the stream. */
  end(): void;
}>;

/** A stream that has just started. It creates its other parts only when they are used. */
export type OpenedStream = SseStream &
  Readonly<{
    /** The same event as `signal`, with less memory. */
    departure: Departure;
    /** Continues writing after the handler has returned. If that fails, the stream breaks off. */
    proceed(write: () => Promise<void>): void;
  }>;

/** Maximum number of characters that wait for the head of their response. */
export const OPENING_CHARACTERS_MAX = 64 * 1024;

const KEEPALIVE = ': keepalive\n\n';
const OPEN = Promise.resolve(true);
const GONE = Promise.resolve(false);

const logger = new Logger('EventStreams');

/** A promise for the next drain of the socket. */
class Room {
  resolve!: (open: boolean) => void;
  readonly promise = new Promise<boolean>((resolve) => (this.resolve = resolve));
  private outstanding = Infinity;

  constructor(private takenAt: number) {}

  /** The time since which the reader has accepted nothing. */
  stalledSince(now: number, outstanding: number): number {
    if (outstanding < this.outstanding) this.takenAt = now;
    this.outstanding = Math.min(this.outstanding, outstanding);
    return this.takenAt;
  }
}

/** A minimal abort signal for one reader. */
class Gone implements Departure {
  aborted = false;
  private listeners: readonly (() => void)[] = [];

  addEventListener(_: 'abort', listener: () => void): void {
    // `push` would allocate room for more listeners than a reader ever has.
    this.listeners = [...this.listeners, listener];
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.listeners = this.listeners.filter((each) => each !== listener);
  }

  abort(): void {
    this.aborted = true;
    for (const listener of this.listeners) listener();
    this.listeners = [];
  }
}

/** The stream of one reader over its HTTP response. */
export class ReaderStream implements OpenedStream {
  readonly departure = new Gone();
  private leaving: AbortController | undefined;
  private lastWriteAt = performance.now();
  /** Set while the socket is full. All writers share it, so there is one listener for `drain`. */
  private room: Room | undefined;
  private endedAt: number | undefined;
  private isLeaving = false;
  /** The first bytes, which are sent with the head; undefined once that is sent. */
  private opening: string | undefined = '';

  constructor(
    private readonly raw: ServerResponse,
    private readonly limits: SseLimits,
    private readonly requestId: string,
    private owesRecord: boolean,
    private readonly onClose: () => void,
  ) {
    raw.on('drain', () => this.hasRoom(true));
    raw.on('error', () => this.destroy());
    raw.once('close', () => this.closed());
  }

  get signal(): AbortSignal {
    if (this.leaving) return this.leaving.signal;
    const leaving = (this.leaving = new AbortController());
    // An explicit reason saves the creation of an AbortError.
    const leave = () => leaving.abort('gone');
    if (this.departure.aborted) leave();
    else this.departure.addEventListener('abort', leave);
    return leaving.signal;
  }

  proceed(write: () => Promise<void>): void {
    write().catch((error: unknown) => {
      if (failureOf(error, this.requestId).unexpected)
        logger.error(`An event stream broke off (request ${this.requestId})`, error instanceof Error ? error.stack : error);
      this.destroy();
    });
  }

  write(bytes: string): Promise<boolean> {
    const isOpen = this.send(bytes);
    this.owesRecord = false;
    if (this.isLeaving) this.end();
    return isOpen;
  }

  /** Sends the head of the response with its first bytes, if that was not done. */
  open(): void {
    if (this.opening === undefined || this.endedAt !== undefined || this.departure.aborted) return;
    const { opening } = this;
    this.opening = undefined;
    // Written by itself, the head becomes one string. Joined with other bytes, it would stay in memory as some 80 parts, 1.5 KiB more.
    this.raw.socket?.cork();
    this.raw.flushHeaders();
    if (opening !== '') void this.push(opening);
    this.raw.socket?.uncork();
  }

  private send(bytes: string): Promise<boolean> {
    if (this.endedAt !== undefined || this.departure.aborted) return GONE;
    this.lastWriteAt = performance.now();
    if (this.opening === undefined) return this.push(bytes);
    // Whatever follows in this turn of the event loop is sent in the same write, which may be the whole response.
    if (this.opening === '') process.nextTick(() => this.open());
    this.opening += bytes;
    if (this.opening.length >= OPENING_CHARACTERS_MAX) this.open();
    return this.room?.promise ?? OPEN;
  }

  private push(bytes: string): Promise<boolean> {
    if (this.raw.writableLength > this.limits.bufferedBytesMax) {
      this.destroy();
      return GONE;
    }
    if (this.raw.write(bytes)) return OPEN;
    return (this.room ??= new Room(this.lastWriteAt)).promise;
  }

  comment(text: string): Promise<boolean> {
    return this.send(`: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`);
  }

  end(): void {
    if (this.endedAt !== undefined || this.departure.aborted) return;
    this.endedAt = performance.now();
    this.raw.end(this.opening);
  }

  /** Ends the stream during a shutdown. */
  leave(): void {
    if (this.owesRecord) this.isLeaving = true;
    else this.end();
  }

  destroy(): void {
    this.raw.destroy();
    this.closed();
  }

  tick(now: number): void {
    const waitingSince = this.room?.stalledSince(now, unsentBytesOf(this.raw)) ?? this.endedAt;
    if (waitingSince !== undefined) {
      if (now - waitingSince >= this.limits.stallMs) this.destroy();
    } else if (now - this.lastWriteAt >= this.limits.keepaliveMs) {
      void this.send(KEEPALIVE);
    }
  }

  private closed() {
    if (this.departure.aborted) return;
    this.departure.abort();
    this.hasRoom(false);
    this.onClose();
  }

  private hasRoom(open: boolean) {
    const waiting = this.room;
    this.room = undefined;
    waiting?.resolve(open);
  }
}
