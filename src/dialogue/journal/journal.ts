import type { Streams } from '../../kernel/event-sourcing/streams.js';
import {
  APPEND_BYTES_MAX,
  type NewEvent,
  type Retention,
  type StoredEvent,
  WrongRevision,
} from '../../kernel/event-sourcing/event-store.js';
import { deterministicId } from '../../kernel/ids.js';
import { sseData } from '../../platform/http/sse-data.policy.js';
import type { BatchClock } from './batch-clock.js';
import { FRAME_EVENT, type Frame, messageStream } from './message.events.js';
import type { MessageDigest } from './message.policy.js';
import type { FramePublisher } from './frame-publisher.port.js';

/** Text frames that follow one another this closely share an append; any other frame, the text after it, and the first after a silence go at once. */
const BATCH_DELAY_MS = 5;
/** A producer faster than the store waits once this many frames are not yet durable. */
export const UNSAVED_FRAMES_MAX = 256;
/** How long a run outlives an event store that does not answer. */
export const RUN_PATIENCE_MS = 60_000;
const BATCH_BYTES_MAX = APPEND_BYTES_MAX / 2;
const FRAME_OVERHEAD_BYTES = 1024;

/** Somebody else wrote to this journal: the run was taken for dead, and must not show anything any more. */
export class JournalLost extends Error {
  override readonly name = 'JournalLost';
}

/** Writes that no worker is alive, in every process under this name. The writer of a run goes on behind such a notice. */
export const NO_WORKER_WRITER = 'no-worker-notice';

/** Another writer of the journal has taken the turn over: this one stops. */
export async function unlessLost(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof JournalLost)) throw error;
  }
}

export type JournalOptions = Readonly<{
  messageId: string;
  /** Where the journal ends now: the digest of what is there. */
  digest: MessageDigest;
  /** Names the writer, so that a repeated append is distinguished from another writer's. */
  writer: string;
  /** Names who writes the very first frame, where that is not this writer alone. */
  firstWriter?: string;
  metadata: string;
  /** Metadata of the very first frame of the message, which says whose it is. */
  firstMetadata: string;
}>;

/**
 * Writes the frames of one run of a turn to the message's stream, in order and in group commits. A frame is published to
 * readers only when it is durable. One append is in flight at a time; while it is, frames gather for the next.
 */
export class Journal {
  private readonly queue: string[] = [];
  private writing: Promise<void> | undefined;
  private urgent = false;
  private amidText = false;
  private lastWriteAt = -Infinity;
  private failure: Error | undefined;
  private readonly lostController = new AbortController();
  private roomWaiters: (() => void)[] = [];
  private wakeTimer: (() => void) | undefined;
  /** What the stream is still to be bounded by. */
  private bounds: Retention | undefined;

  constructor(
    private readonly streams: Streams,
    private readonly publisher: FramePublisher,
    private readonly clock: BatchClock,
    private readonly options: JournalOptions,
  ) {}

  /** Aborts when the journal cannot be written any more; its reason says why. */
  get lost(): AbortSignal {
    return this.lostController.signal;
  }

  get digest(): MessageDigest {
    return this.options.digest;
  }

  write(frame: Frame): void {
    if (this.failure) return;
    this.queue.push(sseData(frame));
    const isText = frame.type === 'answer' || frame.type === 'thought';
    if (!isText || !this.amidText) this.hurry();
    this.amidText = isText;
    this.writing ??= this.drain();
  }

  /** Resolves when few enough frames wait that another may be written. @throws JournalLost, StoreUnavailable */
  async room(): Promise<void> {
    while (this.queue.length >= UNSAVED_FRAMES_MAX && !this.failure) {
      await new Promise<void>((resolve) => this.roomWaiters.push(resolve));
    }
    if (this.failure) throw this.failure;
  }

  /** Resolves when everything written so far is durable. @throws JournalLost, StoreUnavailable */
  async flush(): Promise<void> {
    this.hurry();
    while (this.writing) await this.writing;
    if (this.failure) throw this.failure;
  }

  /** As `flush`, and the journal is bounded from then on, together with its last frames where any are to be written yet. */
  async end(bounds: Retention): Promise<void> {
    this.bounds = bounds;
    await this.flush();
    if (!this.bounds) return;
    const stream = messageStream(this.options.messageId);
    await this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => this.streams.store.setRetention(stream, bounds));
  }

  private hurry(): void {
    this.urgent = true;
    this.wakeTimer?.();
  }

  private async drain(): Promise<void> {
    await Promise.resolve();
    while (this.queue.length > 0 && !this.failure) {
      await this.untilDue();
      try {
        await this.appendBatch();
      } catch (error) {
        this.failure = error instanceof WrongRevision ? new JournalLost(error.message, { cause: error }) : (error as Error);
        this.lostController.abort(this.failure);
      }
      for (const resume of this.roomWaiters.splice(0)) resume();
    }
    // In the step that found nothing left: a frame of the next step begins anew.
    this.writing = undefined;
  }

  private async untilDue(): Promise<void> {
    const waitMs = this.lastWriteAt + BATCH_DELAY_MS - this.clock.elapsedMs();
    if (!this.urgent && waitMs > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.clock.within(waitMs, resolve);
        this.wakeTimer = () => (cancel(), resolve());
      });
      this.wakeTimer = undefined;
    }
    this.urgent = false;
    this.lastWriteAt = this.clock.elapsedMs();
  }

  private async appendBatch(): Promise<void> {
    const { messageId, digest } = this.options;
    const first = digest.lastId + 1;
    const frames = this.takeBatch();
    const stream = messageStream(messageId);
    const events = frames.map((data, index) => this.event(first + index, data));
    try {
      const bounds = this.queue.length === 0 ? this.bounds : undefined;
      await this.streams.appendEvents(stream, first === 0 ? 'none' : first - 1, events, RUN_PATIENCE_MS, bounds);
      if (bounds) this.bounds = undefined;
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
      const known = await this.adopt(events);
      if (known === undefined) throw error;
      this.queue.unshift(...frames.slice(known));
      return;
    }
    frames.forEach((data, index) => digest.add(first + index, data));
    this.publisher.publish(messageId, first, frames);
  }

  /**
   * Goes on behind the notice that no worker is alive, which may come between any worker's decision and its first frame.
   * Answers how many of its own frames stand before that notice; undefined when anything else was written here.
   */
  private async adopt(own: readonly NewEvent[]): Promise<number | undefined> {
    const { messageId, digest } = this.options;
    const found: StoredEvent[] = [];
    for await (const page of this.streams.store.read(messageStream(messageId), { from: digest.lastId + 1 })) found.push(...page);
    const others = found.findIndex(({ id }, index) => id !== own[index]?.id);
    if (others === -1 || !found.slice(others).every((event) => isNoWorkerNotice(messageId, event))) return undefined;
    for (const { revision, data } of found) digest.add(revision, data);
    return others;
  }

  private takeBatch(): string[] {
    let bytes = 0;
    let count = 0;
    for (; count < this.queue.length; count++) {
      bytes += FRAME_OVERHEAD_BYTES + Buffer.byteLength(this.queue[count]!);
      if (bytes > BATCH_BYTES_MAX && count > 0) break;
    }
    return this.queue.splice(0, count);
  }

  private event(revision: number, data: string): NewEvent {
    const { messageId, writer, firstWriter = writer, metadata, firstMetadata } = this.options;
    return {
      id: deterministicId(messageId, revision, revision === 0 ? firstWriter : writer),
      type: FRAME_EVENT,
      data,
      metadata: revision === 0 ? firstMetadata : metadata,
    };
  }
}

const isNoWorkerNotice = (messageId: string, { id, revision, data }: StoredEvent): boolean =>
  id === deterministicId(messageId, revision, NO_WORKER_WRITER) && (JSON.parse(data) as Frame).type === 'notice';
