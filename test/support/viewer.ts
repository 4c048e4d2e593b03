import { setTimeout as pause } from 'node:timers/promises';
import { type Client, framesIn, type StreamedFrame } from './client.js';
import { holdFrame, UnlikeReference } from './held-to-reference.js';

const RETRY_MS_MIN = 20;
const RETRY_MS_MAX = 320;

export type ViewerOptions = Readonly<{
  client: Client;
  body: Readonly<Record<string, unknown>>;
  /** With a key, a question whose outcome is unknown is sent again. Without one the viewer gives it up. */
  idempotencyKey?: string;
  /** After a broken connection, sends the question again with its key instead of reconnecting with a cursor. */
  asksAgain?: boolean;
  /** Stops the answer once it has this many frames. */
  stopsAfterFrames?: number;
  /**
   * Whether a stream may end early: a service that shuts down ends streams, one that is killed cannot, and any other must not.
   */
  mayEndEarly?: boolean;
  /** Resolves when a connection attempt makes sense. Undefined: always. */
  untilWorthwhile?: () => Promise<unknown>;
  /** Called whenever new frames arrived. */
  onFrames?: (viewer: Viewer) => void;
}>;

/**
 * A client that reads one answer completely, over as many connections as that takes. It keeps every byte that it received, and
 * fails as soon as a connection sends something different or leaves something out.
 */
export class Viewer {
  /** All complete records that were received. */
  private records = '';
  private piece = '';
  /** The partial record at which the last connection broke off. The next connection must send a record that begins with it. */
  private begun = '';
  private stopWanted = false;
  private stopping: Promise<void> | undefined;
  accepted = false;
  /** The service accepted a stop. */
  stopAccepted = false;
  connections = 0;
  /** The number of responses that the service is temporarily unable to accept the question. */
  refusals = 0;

  constructor(private readonly options: ViewerOptions) {}

  get body(): ViewerOptions['body'] {
    return this.options.body;
  }

  get seen(): string {
    return this.records + (isComment(this.piece) ? '' : this.piece);
  }

  get frames(): readonly StreamedFrame[] {
    return framesIn(this.records);
  }

  get messageId(): string | undefined {
    return /"message_id":"([0-9a-f-]{36})"/.exec(this.records)?.[1];
  }

  get lastId(): number {
    const at = this.records.lastIndexOf('\nid: ');
    return this.records === '' ? -1 : Number.parseInt(this.records.slice(at < 0 ? 4 : at + 5), 10);
  }

  get isOver(): boolean {
    const last = this.records.slice(this.records.lastIndexOf('\ndata: ') + 7);
    return last.startsWith('{"type":"end"}') || (last.startsWith('{"type":"error"') && last.includes('"code":"stopped"'));
  }

  /** Resolves when the answer has ended. False if the question was never accepted. */
  async watch(signal: AbortSignal): Promise<boolean> {
    for (let retryMs = RETRY_MS_MIN; !this.isOver; retryMs = Math.min(2 * retryMs, RETRY_MS_MAX)) {
      await this.options.untilWorthwhile?.();
      if (signal.aborted) throw new Error(`Gave up on ${this.messageId ?? 'a question'} after ${this.lastId}.`);
      try {
        const response = await this.connect(signal);
        if (response.status === 200) {
          retryMs = RETRY_MS_MIN;
          await this.read(response);
        } else await this.expectAway(response);
      } catch (error) {
        if (error instanceof Inconsistent || error instanceof UnlikeReference) throw error;
        // The connection broke, which the test expects.
      }
      if (!this.isOver && !this.mayGoOn) return false;
      if (!this.isOver) await pause(retryMs);
    }
    await this.stopping;
    return true;
  }

  private get mayGoOn(): boolean {
    return this.messageId !== undefined || this.options.idempotencyKey !== undefined;
  }

  private connect(signal: AbortSignal): Promise<Response> {
    const { client, body, idempotencyKey, asksAgain } = this.options;
    this.connections++;
    this.keepPiece();
    if (this.messageId !== undefined && !asksAgain) {
      return client.get(
        `/api/messages/${this.messageId}/events`,
        this.lastId < 0 ? {} : { 'last-event-id': String(this.lastId) },
        signal,
      );
    }
    return client.post('/stream', body, idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }, signal);
  }

  private async expectAway(response: Response): Promise<void> {
    const text = await response.text();
    this.refusals++;
    if (response.status !== 503) throw new Inconsistent(`${response.status} where 200 or 503 was due: ${text}`);
  }

  private async read(response: Response): Promise<void> {
    const isAsk = response.url.endsWith('/stream');
    if (isAsk && this.accepted && !response.headers.has('idempotent-replayed')) {
      throw new Inconsistent('A question that was accepted was asked anew.');
    }
    this.accepted = true;
    let known = isAsk ? this.records : '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const text = decoder.decode(chunk, { stream: true });
      const repeated = Math.min(known.length, text.length);
      if (known.slice(0, repeated) !== text.slice(0, repeated)) {
        throw new Inconsistent(`Shown again, but differently: ${text} for ${known.slice(0, text.length)}`);
      }
      known = known.slice(repeated);
      this.take(text.slice(repeated), response);
    }
    if (!this.isOver && !this.options.mayEndEarly)
      throw new Inconsistent(`The stream ended by itself after frame ${this.lastId}.`);
  }

  private take(text: string, of: Response): void {
    const parts = (this.piece + text).split('\n\n');
    this.piece = parts.pop()!;
    for (const part of parts) if (!isComment(part)) this.add(`${part}\n\n`, of);
    if (isComment(this.piece)) return;
    this.expectAsBegun(this.piece);
    this.options.onFrames?.(this);
    if (this.lastId + 1 >= (this.options.stopsAfterFrames ?? Infinity)) this.stop();
  }

  private add(record: string, of: Response): void {
    const [, id, data] = /^id: (\d+)\ndata: (\{[^\n]*\})\n\n$/.exec(record) ?? [];
    if (id === undefined) throw new Inconsistent(`No record: ${record}`);
    holdFrame(of, JSON.parse(data!));
    if (this.isOver) throw new Inconsistent(`After the last frame: ${record}`);
    if (Number(id) !== this.lastId + 1) throw new Inconsistent(`Frame ${id} after frame ${this.lastId}.`);
    this.expectAsBegun(record);
    this.begun = '';
    this.records += record;
  }

  private expectAsBegun(text: string): void {
    const { length } = text;
    if (text.slice(0, this.begun.length) !== this.begun.slice(0, length)) {
      throw new Inconsistent(`A record began ${this.begun} and then ${text}`);
    }
  }

  private keepPiece(): void {
    if (!isComment(this.piece) && this.piece.length > this.begun.length) this.begun = this.piece;
    this.piece = '';
  }

  private stop(): void {
    if (this.stopWanted) return;
    this.stopWanted = true;
    this.stopping = this.options.client.post(`/api/messages/${this.messageId}/cancel`, {}).then(
      async (response) => {
        await response.arrayBuffer();
        this.stopAccepted = response.status === 202;
      },
      () => undefined,
    );
  }
}

const isComment = (piece: string): boolean => piece.startsWith(':');

/** A violation that no connection failure explains. */
class Inconsistent extends Error {
  override readonly name = 'Inconsistent';
}
