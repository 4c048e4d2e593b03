import type { Departure } from '../../kernel/departure.js';
import { STREAM_START } from '../../kernel/event-sourcing/event-store.js';
import { Seen } from '../../kernel/messaging/topics.js';
import type { FrameBatch } from './frame-batch.js';

/** Maximum bytes of new frames that are buffered for a busy reader. Beyond it, the reader reads from the log again. */
export const READER_BUFFER_BYTES_MAX = 256 * 1024;

/** A reader, and the batches that it was offered and has not taken. */
export class FrameReader {
  private offered: FrameBatch[] = [];
  private offeredBytes = 0;
  private mustReadLog = false;
  private onMore: (() => void) | undefined;
  readonly seen = new Seen();
  /** Set while it waits for a run after the end of another one, which may never start. */
  waitsPastEnd = false;
  /** Aborts when the reader leaves. */
  departure: Departure | undefined;

  /** @param next the id of the next frame to read */
  constructor(public next: number) {}

  offer(batch: FrameBatch): void {
    if (this.mustReadLog) return;
    this.offered.push(batch);
    this.offeredBytes += batch.text.length;
    if (this.offeredBytes > READER_BUFFER_BYTES_MAX) this.readLog();
    else this.wake();
  }

  readLog(): void {
    this.clear();
    this.mustReadLog = true;
    this.wake();
  }

  /**
   * Whether the reader must read the log, given the newest revision of its journal. Offered batches that still wait need no read.
   * Dropped ones do, because the store may not have shown them yet to the read that replaced them.
   */
  isBehind(revision: number): boolean {
    return revision > (this.offered.at(-1)?.last ?? STREAM_START) && this.seen.isBehind(revision);
  }

  clear(): void {
    this.offered = [];
    this.offeredBytes = 0;
    this.mustReadLog = false;
  }

  get isGone(): boolean {
    return this.departure?.aborted === true;
  }

  /**
   * The offered batch that starts with the next frame; `log` if the reader must read the log; undefined if nothing has arrived.
   */
  take(): FrameBatch | 'log' | undefined {
    for (;;) {
      if (this.mustReadLog) return 'log';
      const batch = this.offered.shift();
      if (!batch) return undefined;
      this.offeredBytes -= batch.text.length;
      if (batch.last < this.next && !batch.terminal) continue;
      return batch.first === this.next ? batch : 'log';
    }
  }

  /** Calls back once, when the reader may take something or has left. */
  whenMore(onMore: () => void): void {
    this.onMore = onMore;
    if (this.mustReadLog || this.offered.length > 0 || this.isGone) this.wake();
  }

  /**
   * Wakes the reader; also called when it leaves. One listener serves all waits, because one for each would cost as much as a
   * frame.
   */
  readonly wake = (): void => {
    const { onMore } = this;
    this.onMore = undefined;
    onMore?.();
  };
}
