import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { type Answer, bytesOf } from './answer.js';
import type { Opened } from './connection.js';
import { meaningOf } from './errors.js';
import { PAGE_BYTES_MAX, PAGE_EVENTS_MAX } from './limits.js';
import type { ReadCall } from './stubs.js';

/** Nothing came in the time that was given. */
export class Silence extends StoreUnavailable {}

/** What a read or a subscription has brought and no consumer has taken: at most a page, then the call is paused. */
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
   * What has come, after waiting for something to come; undefined at the end of the call, or when the signal aborts.
   * @throws Silence, and what the call failed with
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

  /** Ends the call. What it still has is let through: the client holds on to a call until its last message is taken. */
  leave(): void {
    this.left = true;
    this.opened.call.cancel();
    this.opened.call.resume();
  }

  /** Ends the call, and the connection with it: it looks dead. */
  giveUp(): void {
    this.leave();
    this.opened.giveUp();
  }

  private receive(answer: Answer): void {
    if (this.left) return;
    this.answers.push(answer);
    this.bytes += bytesOf(answer);
    if (this.answers.length >= PAGE_EVENTS_MAX || this.bytes >= PAGE_BYTES_MAX) this.opened.call.pause();
    // Not at once: what arrived with it belongs to the same page.
    if (this.answers.length === 1) setImmediate(() => this.answers.length > 0 && this.wake?.());
  }

  private finish(failure?: Error): void {
    this.ended = true;
    this.failure ??= failure;
    this.wake?.();
  }

  /** Resolves when something came, when nothing more will, or when the time is up or the signal aborts. */
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
