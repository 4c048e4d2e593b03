import type { FrameBatch } from '../../../src/dialogue/journal/frame-batch.js';
import type { Acknowledged } from './noted-streams.js';

/** What clients were told. It is compared with the log after the run. */
export class History {
  /** The message ids that each Idempotency-Key for questions led to. */
  readonly messagesOfKey = new Map<string, Set<string>>();
  /** The question of each Idempotency-Key, and whether the request names its place in the conversation. */
  readonly keysAsked = new Map<string, Readonly<{ question: string; namesPlace: boolean }>>();
  /** The task ids that each webhook key led to. */
  readonly tasksOfKey = new Map<string, Set<string>>();
  /** Accepted questions by their text. They must be in the log. */
  readonly accepted = new Map<string, string>();
  /** Messages for which a stop was accepted. */
  readonly stopsAccepted = new Set<string>();
  /** Conversations whose deletion was accepted. */
  readonly deleted = new Set<string>();
  /** The frames that each reader received. */
  readonly readings: Reading[] = [];
  /** Requests that were answered 503, with their start. */
  readonly unavailable: Readonly<{ what: string; fromMs: number; toMs: number; error: string }>[] = [];
  /** The number of accepted resumptions by message. */
  readonly resumed = new Map<string, number>();
  /** Streams that must exist because their first command was accepted. */
  readonly begun = new Set<string>();
  /** Schedules whose cancellation was accepted. */
  readonly schedulesCancelled = new Set<string>();
  /** Runs that were accepted on demand, with their schedules. */
  readonly runsAccepted = new Map<string, string>();
  /** Appends that succeeded, as far as their caller knows. */
  readonly acknowledged: Acknowledged[] = [];
  readonly violations: string[] = [];
}

/** What one reader has received of a message, over all its connections. */
export class Reading {
  messageId: string | undefined;
  readonly frames: string[] = [];
  next: number;

  constructor(
    private readonly history: History,
    readonly first = 0,
  ) {
    this.next = first;
    history.readings.push(this);
  }

  take({ first, data }: FrameBatch): void {
    for (const [index, each] of data.entries()) {
      if (first + index !== this.next) {
        this.history.violations.push(`A reader of ${this.messageId} got frame ${first + index}, and wanted ${this.next}.`);
      }
      this.next = first + index + 1;
      this.frames.push(each);
      const frame = JSON.parse(each) as { type: string; message_id?: string };
      if (frame.type === 'message_id') this.messageId ??= frame.message_id;
    }
  }

  get last(): string | undefined {
    return this.frames.at(-1);
  }
}
