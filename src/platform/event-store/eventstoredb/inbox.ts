import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { type Answer, bytesOf } from './answer.js';
import type { Opened } from './connection.js';
import { meaningOf } from './errors.js';
import { PAGE_BYTES_MAX, PAGE_EVENTS_MAX } from './limits.js';
import type { ReadCall } from './stubs.js';

/** No message arrived in time. */
export class Silence extends StoreUnavailable {}

/** The messages of a read or subscription that the consumer has not taken yet. At a full page the call is paused. */
export class Inbox {
  private answers: Answer[] = [];
  private bytes = 0;
  private ended = false;
  private left = false;
  private failure: Error | undefined;
  private wake: (() => void) | undefined;

  constructor(private readonly opened: Opened<ReadCall>) {
    const { call } = opened;
    call.on('data', (answer: Answer) => this.receive(answer));
    call.on('error', (error) => this.finish(meaningOf(error)));
    call.on('end', () => this.finish());
  }

  /**
   * Waits for messages and returns them; undefined at the end of the call or when the signal aborts.
   * @throws Silence, and the error of the call
   */
  async take(withinMs: number, signal?: AbortSignal): Promise<readonly Answer[] | undefined> {
    if (this.answers.length === 0 && !this.ended) await this.arrival(withinMs, signal);
    if (signal?.aborted) return undefined;
    const { answers } = this;
    if (answers.length > 0) {
      this.answers = [];
      this.bytes = 0;
      this.opened.call.resume();
      return answers;
    }
    if (this.failure) throw this.failure;
    if (this.ended) return undefined;
    throw new Silence(`EventStoreDB said nothing for ${withinMs} ms.`);
  }

  /** Ends the call. Remaining messages are read and dropped, because the client keeps a call until its last message is read. */
  leave(): void {
    this.left = true;
    this.opened.call.cancel();
    this.opened.call.resume();
  }

  /** Ends the call and drops its connection, which seems dead. */
  giveUp(): void {
    this.leave();
    this.opened.giveUp();
  }

  private receive(answer: Answer): void {
    if (this.left) return;
    this.answers.push(answer);
    this.bytes += bytesOf(answer);
    if (this.answers.length >= PAGE_EVENTS_MAX || this.bytes >= PAGE_BYTES_MAX) this.opened.call.pause();
    // Waits for the messages that arrived together, so that they form one page.
    if (this.answers.length === 1) setImmediate(() => this.answers.length > 0 && this.wake?.());
  }

  private finish(failure?: Error): void {
    this.ended = true;
    this.failure ??= failure;
    this.wake?.();
  }

  /** Resolves when a message arrives, the call ends, the time is up or the signal aborts. */
  private arrival(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        this.wake = undefined;
        resolve();
      };
      const timer = setTimeout(wake, withinMs);
      this.wake = wake;
      signal?.addEventListener('abort', wake);
      if (signal?.aborted) wake();
    });
  }
}
