import type { FrameBatch } from '../../../src/dialogue/journal/message-feed.js';
import type { Acknowledged } from './noted-streams.js';

/** What clients were told: what the log is held against after the run. */
export class History {
  /** Of each Idempotency-Key for questions, the messages it led to. */
  readonly messagesOfKey = new Map<string, Set<string>>();
  /** Of each Idempotency-Key for questions, the question, and whether the request names its place. */
  readonly keysAsked = new Map<string, Readonly<{ question: string; namesPlace: boolean }>>();
  /** Of each key of a webhook, the tasks that were named. */
  readonly tasksOfKey = new Map<string, Set<string>>();
  /** Questions that were accepted, by what they say: they are in the log, whatever happens. */
  readonly accepted = new Map<string, string>();
  /** Messages of which a stop was accepted. */
  readonly stopsAccepted = new Set<string>();
  /** Conversations whose deletion was accepted. */
  readonly deleted = new Set<string>();
  /** What each reader was shown of a message, by its ids. */
  readonly readings: Reading[] = [];
  /** Requests that were told 503, and when they had begun. */
  readonly unavailable: Readonly<{ what: string; fromMs: number; toMs: number; error: string }>[] = [];
  /** Resumptions that were accepted, by message. */
  readonly resumed = new Map<string, number>();
  /** Streams that are there because what begins them was accepted. */
  readonly begun = new Set<string>();
  /** Schedules whose end was accepted. */
  readonly schedulesCancelled = new Set<string>();
  /** Runs that were accepted when somebody wanted them, and their schedules. */
  readonly runsAccepted = new Map<string, string>();
  /** Appends that succeeded, as far as the one who made them knows. */
  readonly acknowledged: Acknowledged[] = [];
  readonly violations: string[] = [];
}

/** What one reader has of a message, over all its connections. */
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
