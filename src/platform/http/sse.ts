import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import type { Departure } from '../../kernel/departure.js';
import { failureOf } from './errors.js';

/** What an event stream needs of a Fastify reply. */
export type StreamableReply = Readonly<{
  raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}>;

export type SseLimits = Readonly<{
  /** After this long a silence a comment is sent. */
  keepaliveMs: number;
  /** A reader that takes nothing for this long is disconnected; it resumes from its cursor. */
  stallMs: number;
  /** Bytes held for one reader; one that has more outstanding when the next come is disconnected. */
  bufferedBytesMax: number;
}>;

/** One reader. Bytes go out as they are given: the writer has rendered them. */
export type SseStream = Readonly<{
  /** Aborts when the reader is gone, whichever side ended it. */
  signal: AbortSignal;
  /** Resolves when there is room for more; false when the reader is gone. Never rejects. */
  write(bytes: string): Promise<boolean>;
  /** A line that parsers skip. */
  comment(text: string): Promise<boolean>;
  /** Sends what is outstanding and closes. */
  end(): void;
}>;

/** A reader for whom nothing has been made yet that it may not need. */
export type OpenedStream = SseStream &
  Readonly<{
    /** What `signal` says, and little to keep. */
    departure: Departure;
    /** Writes on beside the request. A stream for which that fails breaks off. */
    proceed(write: () => Promise<void>): void;
  }>;

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

const KEEPALIVE = ': keepalive\n\n';
const OPEN = Promise.resolve(true);
const GONE = Promise.resolve(false);

type Head = Readonly<{ status?: number; headers?: Record<string, string> }>;

const logger = new Logger('EventStreams');

const streamOn = new WeakMap<ServerResponse, SseStream>();

/** Ends the event stream that a response carries, between two records; false where it carries none. */
export function endEventStream(response: ServerResponse): boolean {
  const stream = streamOn.get(response);
  stream?.end();
  return stream !== undefined;
}

/** The event streams this process has open. One ticker serves them all, so that an idle reader costs a socket and little else. */
export class SseStreams {
  private readonly open = new Set<Stream>();
  private ticker: NodeJS.Timeout | undefined;
  private closing = false;
  private reserved = 0;

  constructor(private readonly limits: SseLimits) {}

  /** Those that are open, and the places that are kept for others. */
  get size(): number {
    return this.open.size + this.reserved;
  }

  /** Keeps a place among so many while it is decided whether a stream begins; undefined when there is none. The function gives it back. */
  reserve(max: number): (() => void) | undefined {
    if (this.size >= max) return undefined;
    this.reserved++;
    let giveBack = () => void this.reserved--;
    return () => {
      giveBack();
      giveBack = () => undefined;
    };
  }

  /** Takes the reply over and sends its head: the status, what hooks have set (CORS, request id), and what makes it an event stream. */
  start(reply: StreamableReply, { status = 200, headers = {} }: Head = {}): OpenedStream {
    const { raw } = reply;
    const given = reply.getHeaders();
    const head = { ...given, ...headers, ...SSE_HEADERS };
    reply.hijack();
    const stream = new Stream(raw, this.limits, String(given['x-request-id']), () => this.forget(stream));
    if (raw.destroyed || raw.socket === null || raw.socket.destroyed) {
      stream.destroy();
      return stream;
    }
    this.open.add(stream);
    streamOn.set(raw, stream);
    this.ticker ??= setInterval(() => this.tick(), tickMs(this.limits)).unref();
    // What is written in the same step leaves together with the head. A corked response that ends loses what it holds, from Node 22 on.
    const { socket } = raw;
    socket.cork();
    process.nextTick(() => socket.uncork());
    raw.writeHead(status, head);
    raw.flushHeaders();
    // A request for the head alone is over with it: its connection takes another one.
    if (this.closing || raw.req.method === 'HEAD') stream.end();
    return stream;
  }

  /**
   * As `start`, for a stream that stays open for long: it is written beside the request, so that its handler returns, and all that
   * is kept while a request is handled can go.
   */
  serve(reply: StreamableReply, write: (stream: OpenedStream) => Promise<void>, head?: Head): void {
    const stream = this.start(reply, head);
    stream.proceed(() => write(stream));
  }

  /** Ends every stream, and each that is started from now on: clients go on elsewhere from their cursors. */
  closeAll(): void {
    this.closing = true;
    for (const stream of this.open) stream.end();
  }

  private tick() {
    const now = performance.now();
    for (const stream of this.open) stream.tick(now);
  }

  private forget(stream: Stream) {
    this.open.delete(stream);
    if (this.open.size > 0) return;
    clearInterval(this.ticker);
    this.ticker = undefined;
  }
}

const TICK_MS_MIN = 5;
const TICK_MS_MAX = 1_000;

/** Fine enough for the shorter of both times to be kept within a twentieth. */
const tickMs = ({ keepaliveMs, stallMs }: SseLimits): number =>
  Math.min(TICK_MS_MAX, Math.max(TICK_MS_MIN, Math.min(keepaliveMs, stallMs) / 20));

/** What the system has not taken yet of the bytes that a socket is writing, which Node keeps to itself. */
type Written = Readonly<{ _handle?: Readonly<{ writeQueueSize: number }> | null; destroyed: boolean }>;

/** It shrinks with every byte that is taken. Node's own count holds a record whole until its last byte. */
function outstandingOf({ writableLength, socket }: ServerResponse): number {
  const written: Written | null = socket;
  return writableLength + (written?._handle?.writeQueueSize ?? 0);
}

/** Room for more bytes, awaited. */
class Room {
  resolve!: (open: boolean) => void;
  readonly promise = new Promise<boolean>((resolve) => (this.resolve = resolve));
  private outstanding = Infinity;

  constructor(private takenAt: number) {}

  /** Since when the reader has taken nothing. */
  stalledSince(now: number, outstanding: number): number {
    if (outstanding < this.outstanding) this.takenAt = now;
    this.outstanding = Math.min(this.outstanding, outstanding);
    return this.takenAt;
  }
}

/** The departure of one reader. */
class Gone implements Departure {
  aborted = false;
  private listeners: readonly (() => void)[] = [];

  addEventListener(_: 'abort', listener: () => void): void {
    // An array that is pushed to makes room for more than one ever needs.
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

class Stream implements OpenedStream {
  readonly departure = new Gone();
  private leaving: AbortController | undefined;
  private lastWriteAt = performance.now();
  /** Set while the socket has no room: all writers wait for the same drain, so there is one listener however many they are. */
  private room: Room | undefined;
  private endedAt: number | undefined;

  constructor(
    private readonly raw: ServerResponse,
    private readonly limits: SseLimits,
    private readonly requestId: string,
    private readonly onClose: () => void,
  ) {
    raw.on('drain', () => this.hasRoom(true));
    raw.on('error', () => this.destroy());
    raw.once('close', () => this.closed());
  }

  get signal(): AbortSignal {
    if (this.leaving) return this.leaving.signal;
    const leaving = (this.leaving = new AbortController());
    // With a reason of its own, no error is made for it.
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
    if (this.endedAt !== undefined || this.departure.aborted) return GONE;
    if (this.raw.writableLength > this.limits.bufferedBytesMax) {
      this.destroy();
      return GONE;
    }
    this.lastWriteAt = performance.now();
    if (this.raw.write(bytes)) return OPEN;
    return (this.room ??= new Room(this.lastWriteAt)).promise;
  }

  comment(text: string): Promise<boolean> {
    return this.write(`: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`);
  }

  end(): void {
    if (this.endedAt !== undefined || this.departure.aborted) return;
    this.endedAt = performance.now();
    this.raw.end();
  }

  destroy(): void {
    this.raw.destroy();
    this.closed();
  }

  tick(now: number): void {
    const waitingSince = this.room?.stalledSince(now, outstandingOf(this.raw)) ?? this.endedAt;
    if (waitingSince !== undefined) {
      if (now - waitingSince >= this.limits.stallMs) this.destroy();
    } else if (now - this.lastWriteAt >= this.limits.keepaliveMs) {
      void this.write(KEEPALIVE);
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
