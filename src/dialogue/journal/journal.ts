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
import type { BatchClock } from '../../kernel/event-sourcing/batch-clock.js';
import { FRAME_EVENT, type Frame, messageStream } from './message.events.js';
import type { MessageDigest } from './message.policy.js';
import type { TextPace } from './text-pace.js';
import type { FramePublisher } from './frame-publisher.port.js';

/** A timer is this much too late. A frame that would wait for less is written at once. */
const TIMER_MS = 1;
/** Text that waits for the same append becomes one frame, up to this length. */
export const JOINED_CHARACTERS_MAX = 1024;
/** Maximum number of frames that are not durable yet. A producer that is faster than the store waits. */
export const UNSAVED_FRAMES_MAX = 256;
/** How long a run continues while the event store does not answer. */
export const RUN_PATIENCE_MS = 60_000;
const BATCH_BYTES_MAX = APPEND_BYTES_MAX / 2;
const FRAME_OVERHEAD_BYTES = 1024;

/** Another writer has appended to this journal, because it considered this run lost. This run must not show any further frame. */
export class JournalLost extends Error {
  override readonly name = 'JournalLost';
}

/**
 * The writer name, in every process, of the notice that no worker is alive. The writer of a run may continue after such a notice.
 */
export const NO_WORKER_WRITER = 'no-worker-notice';

/** Returns whether the work was done. False if another writer has taken the journal over. */
export async function unlessLost(work: Promise<void>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(error instanceof JournalLost)) throw error;
    return false;
  }
}

export type JournalOptions = Readonly<{
  messageId: string;
  /** The digest of the frames that the journal has now. */
  digest: MessageDigest;
  /** The name of the writer, which distinguishes a repeated append from that of another writer. */
  writer: string;
  /** The shared writer name of the first frame, which any producer may write. */
  firstWriter?: string;
  metadata: string;
  /** The metadata of the first frame, which states who may read the message. */
  firstMetadata: string;
}>;

/**
 * Writes the frames of a run to the stream of the message, in order and in group commits. A frame is published to readers only
 * after it is durable. One append is in progress at a time, and the next frames wait for the next append. Text that waits becomes
 * one frame.
 */
export class Journal {
  private readonly queue: string[] = [];
  /** The text after the queue, which is not a frame yet. */
  private text: TextFrame | undefined;
  private writing: Promise<void> | undefined;
  private urgent = false;
  private amidText = false;
  /** When the last append began, or the first frame that waits for another. */
  private heldSince = -Infinity;
  private failure: Error | undefined;
  private readonly lostController = new AbortController();
  private roomWaiters: (() => void)[] = [];
  private wakeTimer: (() => void) | undefined;
  /** The bounds that the next append sets. */
  private bounds: Retention | undefined;

  constructor(
    private readonly streams: Streams,
    private readonly publisher: FramePublisher,
    private readonly clock: BatchClock,
    private readonly pace: TextPace,
    private readonly options: JournalOptions,
  ) {}

  /** Aborts, with the reason, when the journal can no longer be written. */
  get lost(): AbortSignal {
    return this.lostController.signal;
  }

  get digest(): MessageDigest {
    return this.options.digest;
  }

  write(frame: Frame): void {
    const isText = frame.type === 'answer' || frame.type === 'thought';
    if (!isText || !this.amidText) this.hurry();
    this.amidText = isText;
    if (isText) this.join(frame);
    else this.enqueue(frame);
  }

  /** Writes a frame that waits briefly for the next one, to share its append. */
  writeWithNext(frame: Frame): void {
    this.heldSince = this.clock.elapsedMs();
    this.enqueue(frame);
  }

  private enqueue(frame: Frame): void {
    if (this.failure) return;
    this.endText();
    this.queue.push(sseData(frame));
    this.writing ??= this.drain();
  }

  private join(frame: TextFrame): void {
    if (this.failure) return;
    const both = this.text && joined(this.text, frame);
    if (!both) this.endText();
    this.text = both ?? frame;
    this.writing ??= this.drain();
  }

  private endText(): void {
    if (this.text) this.queue.push(sseData(this.text));
    this.text = undefined;
  }

  /** The number of frames that are not durable yet, without those of an append in progress. */
  private get waiting(): number {
    return this.queue.length + (this.text ? 1 : 0);
  }

  /** Resolves when another frame may be written. @throws JournalLost, StoreUnavailable */
  async room(): Promise<void> {
    while (this.waiting >= UNSAVED_FRAMES_MAX && !this.failure) {
      this.hurry();
      await new Promise<void>((resolve) => this.roomWaiters.push(resolve));
    }
    if (this.failure) throw this.failure;
  }

  /** Resolves when all frames written so far are durable. @throws JournalLost, StoreUnavailable */
  async flush(): Promise<void> {
    this.hurry();
    while (this.writing) await this.writing;
    if (this.failure) throw this.failure;
  }

  /** As `flush`, and sets the bounds of the journal, in the append of its last frames if there is one. */
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
    while (this.waiting > 0 && !this.failure) {
      await this.untilDue();
      try {
        await this.appendBatch();
      } catch (error) {
        this.failure = error instanceof WrongRevision ? new JournalLost(error.message, { cause: error }) : (error as Error);
        this.lostController.abort(this.failure);
      }
      for (const resume of this.roomWaiters.splice(0)) resume();
    }
    // In the same step that found the queue empty, so that a later frame starts a new write.
    this.writing = undefined;
  }

  private async untilDue(): Promise<void> {
    const now = this.clock.elapsedMs();
    const waitMs = this.heldSince + this.pace.delayMs(this, now) - now;
    if (!this.urgent && waitMs > TIMER_MS) {
      await new Promise<void>((resolve) => {
        const cancel = this.clock.within(waitMs, resolve);
        this.wakeTimer = () => (cancel(), resolve());
      });
      this.wakeTimer = undefined;
    }
    this.urgent = false;
    this.heldSince = this.clock.elapsedMs();
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
   * Continues after the notice that no worker is alive, which may be written between a worker's claim and its first frame.
   * Returns the number of own frames before the notice; undefined if the journal holds anything else.
   */
  private async adopt(own: readonly NewEvent[]): Promise<number | undefined> {
    const { messageId, digest } = this.options;
    const found = await this.streams.retryWhileUnavailable(RUN_PATIENCE_MS, () => this.framesFrom(digest.lastId + 1));
    const others = found.findIndex(({ id }, index) => id !== own[index]?.id);
    if (others === -1 || !found.slice(others).every((event) => isNoWorkerNotice(messageId, event))) return undefined;
    for (const { revision, data } of found) digest.add(revision, data);
    return others;
  }

  private async framesFrom(revision: number): Promise<readonly StoredEvent[]> {
    const found: StoredEvent[] = [];
    const pages = this.streams.store.read(messageStream(this.options.messageId), { from: revision });
    for await (const page of pages) found.push(...page);
    return found;
  }

  private takeBatch(): string[] {
    this.endText();
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

type TextFrame = Extract<Frame, { type: 'answer' | 'thought' }>;

/** Text of one kind as one frame, because a frame costs the same however little text it has; undefined if it does not fit. */
function joined(one: TextFrame, next: TextFrame): TextFrame | undefined {
  const text = textOf(one) + textOf(next);
  if (one.type !== next.type || text.length > JOINED_CHARACTERS_MAX) return undefined;
  return one.type === 'answer' ? { type: 'answer', answer: text } : { type: 'thought', thought: text };
}

const textOf = (frame: TextFrame): string => (frame.type === 'answer' ? frame.answer : frame.thought);

const isNoWorkerNotice = (messageId: string, { id, revision, data }: StoredEvent): boolean =>
  id === deterministicId(messageId, revision, NO_WORKER_WRITER) && (JSON.parse(data) as Frame).type === 'notice';
