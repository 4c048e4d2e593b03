import type { ServerResponse } from 'node:http';
import { type OpenedStream, ReaderStream, type SseLimits, type SseStream } from './reader-stream.js';

/** The part of a Fastify reply that an event stream needs. */
export type StreamableReply = Readonly<{
  raw: ServerResponse;
  hijack(): unknown;
  getHeaders(): Record<string, number | string | string[] | undefined>;
}>;

/** The headers of every response with an event stream. */
export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/**
 * How long a head waits for the first bytes of its stream, so that both are sent in one write. One timer serves all waiting heads,
 * so a head may be sent earlier.
 */
export const HEAD_DELAY_MS = 20;

type Head = Readonly<{
  status?: number;
  headers?: Record<string, string>;
  /** A shutdown ends the stream only after its first record, which has the id that the client resumes with. */
  owesRecord?: boolean;
}>;

const streamOn = new WeakMap<ServerResponse, SseStream>();

/** Ends the event stream of a response between two records. False if the response has none. */
export function endEventStream(response: ServerResponse): boolean {
  const stream = streamOn.get(response);
  stream?.end();
  return stream !== undefined;
}

/** The open event streams of this process. One timer serves all of them, so an idle reader costs little more than its socket. */
export class SseStreams {
  private readonly open = new Set<ReaderStream>();
  private ticker: NodeJS.Timeout | undefined;
  /** The streams whose heads may still wait. */
  private headless: ReaderStream[] = [];
  private closing = false;
  private reserved = 0;

  constructor(private readonly limits: SseLimits) {}

  /** The number of open streams and reserved places. */
  get size(): number {
    return this.open.size + this.reserved;
  }

  /**
   * Reserves a place among `max` while the caller decides whether to start a stream; undefined if none is free. The returned
   * function frees it.
   */
  reserve(max: number): (() => void) | undefined {
    if (this.size >= max) return undefined;
    this.reserved++;
    let release = () => void this.reserved--;
    return () => {
      release();
      release = () => undefined;
    };
  }

  /**
   * Takes the reply over. Its head (the status, the headers set by hooks such as CORS, and those of an event stream) is sent with
   * the first bytes, and after HEAD_DELAY_MS without them.
   */
  start(reply: StreamableReply, { status = 200, headers = {}, owesRecord = false }: Head = {}): OpenedStream {
    const { raw } = reply;
    const given = reply.getHeaders();
    reply.hijack();
    const stream = new ReaderStream(raw, this.limits, String(given['x-request-id']), owesRecord, () => this.forget(stream));
    // A response has no socket while an earlier request of the connection is unanswered.
    const connection = raw.req.socket;
    if (raw.destroyed || connection.destroyed) {
      stream.destroy();
      return stream;
    }
    this.open.add(stream);
    streamOn.set(raw, stream);
    this.ticker ??= setInterval(() => this.tick(), tickMs(this.limits)).unref();
    if (!raw.socket) {
      // Node closes only the response that has the socket.
      const abandon = () => stream.destroy();
      connection.once('close', abandon);
      raw.once('socket', () => connection.off('close', abandon));
    }
    raw.statusCode = status;
    for (const each of [given, headers, SSE_HEADERS]) setHeaders(raw, each);
    if (this.headless.push(stream) === 1) setTimeout(() => this.sendHeads(), HEAD_DELAY_MS);
    // A HEAD request ends with the head, and its connection accepts the next request.
    if (raw.req.method === 'HEAD') stream.end();
    else if (this.closing) stream.leave();
    return stream;
  }

  /**
   * As `start`, for a stream that stays open for long. It is written after the handler has returned, so that the objects of the
   * request can be freed.
   */
  serve(reply: StreamableReply, write: (stream: OpenedStream) => Promise<void>): void {
    const stream = this.start(reply);
    stream.proceed(() => write(stream));
  }

  /**
   * Ends all streams, and those that are started later. Clients resume at another process from their last ids. Streams that owe
   * their first record end after it.
   */
  closeAll(): void {
    this.closing = true;
    for (const stream of this.open) stream.leave();
  }

  private sendHeads() {
    const waiting = this.headless;
    this.headless = [];
    for (const stream of waiting) stream.open();
  }

  private tick() {
    const now = performance.now();
    for (const stream of this.open) stream.tick(now);
  }

  private forget(stream: ReaderStream) {
    this.open.delete(stream);
    if (this.open.size > 0) return;
    clearInterval(this.ticker);
    this.ticker = undefined;
  }
}

/** Sets headers. Most of those of a reply are already those of its response, and to compare them costs less than to set them. */
function setHeaders(raw: ServerResponse, headers: Readonly<Record<string, number | string | string[] | undefined>>): void {
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && raw.getHeader(name) !== value) raw.setHeader(name, value);
  }
}

const TICK_MS_MIN = 5;
const TICK_MS_MAX = 1_000;

/** The timer interval: a twentieth of the shorter time limit. */
const tickMs = ({ keepaliveMs, stallMs }: SseLimits): number =>
  Math.min(TICK_MS_MAX, Math.max(TICK_MS_MIN, Math.min(keepaliveMs, stallMs) / 20));
