import { Injectable } from '@nestjs/common';
import {
  EventStore,
  lastEvent,
  type StoredEvent,
  type StoredTexts,
  StoreUnavailable,
  STREAM_START,
} from '../../kernel/event-sourcing/event-store.js';
import type { Departure } from '../../kernel/departure.js';
import { SIGNAL_BYTES_MAX, Signals } from '../../kernel/messaging/signals.js';
import { Timing } from '../../kernel/timing.js';
import type { FramePublisher } from './frame-publisher.port.js';
import { isTerminal, messageStream } from './message.events.js';
import type { Following } from './turn-activity.js';
import { type Delivery, seenByAll, STORE_RETRY_MS, Topics } from '../../kernel/messaging/topics.js';
import { type FrameBatch, batchOf, batchesOf } from './frame-batch.js';
import { FrameReader } from './frame-reader.js';

const subjectOf = (messageId: string): string => `message.${messageId}`;

/** How long an expected reader is kept. Its caller starts reading sooner. */
export const EXPECTED_READER_MS = 10_000;

type ExpectedReader = Readonly<{ reader: FrameReader; leave: () => void; cancel: () => void }>;

/** Offers the frames of a signal, rendered once, to all readers. A signal without frames makes them read the log. */
function offerSignalled(readers: ReadonlySet<FrameReader>, payload: string): void {
  const [first, ...data] = payload.split('\n');
  const batch = data.length > 0 ? batchOf(Number(first), data) : undefined;
  for (const reader of readers) {
    if (batch) reader.offer(batch);
    else reader.readLog();
  }
}

/** Tells what follows a terminal frame at the end of a journal. */
export type Follows = (terminalId: number) => Promise<Following>;

/** The part of a journal that was read before the reader starts, and what follows it. */
export type StartedFrames = Readonly<{ pages: AsyncIterable<StoredTexts>; follows: Follows }>;

/** The progress of a reader through a message. While it waits for frames, none of its code runs. */
export type FrameReading = Readonly<{
  /** The frames since the last call. A reader that does not take all of them leaves. */
  available: () => AsyncIterable<FrameBatch>;
  /** Calls back once there may be more frames. False if there will be none. */
  whenMore: (onMore: () => void) => boolean;
}>;

/**
 * Reads the stored and new frames of messages. `POST /stream` reads a message from the start, and a reconnecting client reads
 * from its cursor, both by this code. The log is the only source of truth; signals reduce polling.
 */
@Injectable()
export class MessageFeed implements FramePublisher {
  private readonly topics: Topics<FrameReader>;
  private readonly expected = new Map<string, ExpectedReader>();

  constructor(
    private readonly store: EventStore,
    private readonly signals: Signals,
    private readonly timing: Timing,
  ) {
    const delivery: Delivery<FrameReader> = {
      subjectOf,
      onSignal: offerSignalled,
      poll: async (topics) => {
        const known = new Map([...topics].map(([messageId, readers]) => [messageStream(messageId), seenByAll(readers)]));
        const grown = await this.store.grownPast(known);
        for (const [messageId, readers] of topics) {
          const revision = grown.get(messageStream(messageId)) ?? STREAM_START;
          for (const reader of readers) if (reader.waitsPastEnd || reader.isBehind(revision)) reader.readLog();
        }
      },
    };
    this.topics = new Topics(signals, delivery, timing);
  }

  publish(messageId: string, first: number, frames: readonly string[]): void {
    const payload = [first, ...frames].join('\n');
    const fits = Buffer.byteLength(payload) <= SIGNAL_BYTES_MAX;
    this.signals.publish(subjectOf(messageId), fits ? payload : String(first));
  }

  /**
   * Announces the first reader of a message whose frames this process is about to write. The reader receives all frames by
   * signals and does not read the log. The returned function withdraws the announcement.
   */
  expect(messageId: string): () => void {
    const reader = new FrameReader(0);
    const leave = this.topics.join(messageId, reader);
    const forget = () => {
      if (this.taken(messageId, reader)) leave();
    };
    const cancel = this.timing.after(EXPECTED_READER_MS, forget, { unref: true });
    this.expected.set(messageId, { reader, leave, cancel });
    return forget;
  }

  /** The stored and new frames after a revision, up to the terminal frame of the run. Ends without an error when aborted. */
  async *tail(
    messageId: string,
    after: number,
    follows: Follows,
    departure: Departure,
    started?: StartedFrames,
  ): AsyncGenerator<FrameBatch> {
    const reading = this.reading(messageId, after, follows, departure, started);
    do yield* reading.available();
    while (await new Promise<boolean>((resolve) => reading.whenMore(() => resolve(true)) || resolve(false)));
  }

  /** As `tail`, for a reader that may wait for long. */
  reading(messageId: string, after: number, follows: Follows, departure: Departure, started?: StartedFrames): FrameReading {
    const awaited = after < 0 ? this.taken(messageId) : undefined;
    const reader = awaited?.reader ?? new FrameReader(after + 1);
    reader.departure = departure;
    departure.addEventListener('abort', reader.wake);
    const fromLog = (pages: AsyncIterable<StoredTexts>, follows: Follows) => this.fromLog(messageId, reader, pages, follows);
    return new Reading(reader, awaited?.leave, started, {
      join: () => this.topics.join(messageId, reader),
      started: ({ pages, follows }) => fromLog(pages, follows),
      rest: () => fromLog(this.store.readTexts(messageStream(messageId), reader.next), follows),
    });
  }

  /** Takes the expected reader of a message, once. With `reader`, only if it is this one. */
  private taken(messageId: string, reader?: FrameReader): ExpectedReader | undefined {
    const expected = this.expected.get(messageId);
    if (!expected || (reader && expected.reader !== reader)) return undefined;
    this.expected.delete(messageId);
    expected.cancel();
    return expected;
  }

  /** Reads the stored frames. Returns whether the reader is done. */
  private async *fromLog(
    messageId: string,
    reader: FrameReader,
    pages: AsyncIterable<StoredTexts>,
    follows: Follows,
  ): AsyncGenerator<FrameBatch, boolean> {
    reader.waitsPastEnd = false;
    try {
      let last: FrameBatch | undefined;
      for await (const { first, texts } of pages) {
        // The next frames are no longer kept. The reader never gets a stream with a gap; it learns of the loss when it
        // reconnects.
        if (first > reader.next) return true;
        reader.seen.upTo(first + texts.length - 1);
        for (last of batchesOf(first, texts)) {
          reader.next = last.last + 1;
          yield last;
          if (reader.isGone) return true;
        }
      }
      if (!last && (await this.isNoLongerKept(messageId, reader.next))) return true;
      const terminalId = last ? terminalIdOf(last) : await this.terminalIdUpTo(messageId, reader);
      reader.waitsPastEnd = terminalId !== undefined;
      return terminalId !== undefined && (await this.endsAt(terminalId, messageId, reader, follows));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await new Promise<void>((resolve) => this.timing.after(STORE_RETRY_MS, resolve, { unref: true }));
      reader.readLog();
      return false;
    }
  }

  /** Whether the frame `next` existed and was deleted. Frames that are written during the check still exist. */
  async isNoLongerKept(messageId: string, next: number): Promise<boolean> {
    const stream = messageStream(messageId);
    const end = await this.store.lastRevision(stream);
    if (end === 'none' || end < next) return false;
    for await (const { first } of this.store.readTexts(stream, next)) return first > next;
    return true;
  }

  /** The id of the terminal frame at the end of the journal, if no frame follows the cursor. The cursor may be past the end. */
  private async terminalIdUpTo(messageId: string, { next, seen }: FrameReader): Promise<number | undefined> {
    if (next === 0) return undefined;
    const last = await this.lastFrame(messageId);
    if (last === undefined || last.revision >= next) return undefined;
    seen.upTo(last.revision);
    return isTerminal(last.data) ? last.revision : undefined;
  }

  private async endsAt(terminalId: number, messageId: string, reader: FrameReader, follows: Follows): Promise<boolean> {
    const coming = await follows(terminalId);
    if (coming !== 'what-is-written') return coming === 'nothing';
    const last = await this.lastFrame(messageId);
    if (last === undefined || last.revision < reader.next) return true;
    // The reader reads it from the log, because it may have missed the signals.
    reader.readLog();
    return false;
  }

  lastFrame(messageId: string): Promise<StoredEvent | undefined> {
    return lastEvent(this.store, messageStream(messageId));
  }
}

/** The sources of a reader's frames. */
type Frames = Readonly<{
  join: () => () => void;
  /** The stored frames. They return whether the reader is done. */
  started: (started: StartedFrames) => AsyncGenerator<FrameBatch, boolean>;
  rest: () => AsyncGenerator<FrameBatch, boolean>;
}>;

class Reading implements FrameReading {
  private isOver = false;

  constructor(
    private readonly reader: FrameReader,
    private leave: (() => void) | undefined,
    private started: StartedFrames | undefined,
    private readonly frames: Frames,
  ) {}

  async *available(): AsyncGenerator<FrameBatch> {
    let waits = false;
    try {
      waits = yield* this.upToNow();
    } finally {
      if (!waits) this.end();
    }
  }

  whenMore(onMore: () => void): boolean {
    if (!this.isOver) this.reader.whenMore(onMore);
    return !this.isOver;
  }

  /** Yields the frames so far. Returns whether more may follow. */
  private async *upToNow(): AsyncGenerator<FrameBatch, boolean> {
    const { reader, frames, started } = this;
    this.started = undefined;
    // Most readers that start at the first frame arrive after the end of the answer and need no signals.
    if (started && (yield* frames.started(started))) return false;
    if (!this.leave) {
      this.leave = frames.join();
      reader.readLog();
    }
    while (!reader.isGone) {
      const batch = reader.take();
      if (batch === undefined) return true;
      if (batch === 'log') {
        reader.clear();
        if (yield* frames.rest()) return false;
        continue;
      }
      reader.next = batch.last + 1;
      reader.seen.upTo(batch.last);
      reader.waitsPastEnd = false;
      yield batch;
      if (batch.terminal) return false;
    }
    return false;
  }

  private end(): void {
    this.isOver = true;
    this.reader.departure?.removeEventListener('abort', this.reader.wake);
    this.leave?.();
  }
}

const terminalIdOf = ({ terminal, last }: FrameBatch): number | undefined => (terminal ? last : undefined);
